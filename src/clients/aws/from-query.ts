/** The settings of an AWS client in a URL's query; the rest come from the environment. */
import { readOptions } from '../../base/options.ts';

interface AwsSettings {
  readonly region?: string;
  readonly endpoint?: string;
  /** For S3: the bucket is in the path, as services want it that are not Amazon's. */
  readonly forcePathStyle?: boolean;
}

/** @throws UsageError */
export function awsSettings(query: string): AwsSettings {
  const given = Object.fromEntries(new URLSearchParams(query));
  const known = ['region', 'endpoint', 'forcePathStyle'];
  const { forcePathStyle, ...texts } = readOptions(given, known, 'The URL');
  return { ...texts, ...(forcePathStyle === 'true' && { forcePathStyle: true }) };
}
