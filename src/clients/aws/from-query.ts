/** The settings of an AWS client in a URL's query; the rest come from the environment. */
import { UsageError } from '../../base/errors.ts';

interface AwsSettings {
  readonly region?: string;
  readonly endpoint?: string;
  /** For S3: the bucket is in the path, as services want it that are not Amazon's. */
  readonly forcePathStyle?: boolean;
}

const NAMES = ['region', 'endpoint', 'forcePathStyle'];

/** @throws UsageError */
export function awsSettings(query: string): AwsSettings {
  const given = [...new URLSearchParams(query)];
  const unknown = given.find(([name]) => !NAMES.includes(name));
  if (unknown) throw new UsageError(`The URL has ${NAMES.join(', ')}, and no '${unknown[0]}'.`);
  const { forcePathStyle, ...texts } = Object.fromEntries(given);
  return { ...texts, ...(forcePathStyle === 'true' && { forcePathStyle: true }) };
}
