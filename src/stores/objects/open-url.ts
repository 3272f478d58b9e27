/** The store that a URL of S3 names: `s3://bucket/prefix/?region=eu-west-1`. */
import { UsageError } from '../../base/errors.ts';
import { awsSettings } from '../../clients/aws/from-query.ts';
import type { ServerFacts } from '../../clients/facts/server-facts.ts';
import { s3Client, s3Objects } from '../../clients/objects/s3-objects.ts';
import type { Store } from '../../contract/store.ts';
import { closingAlso, splitQuery } from '../url-options.ts';
import { objectFacts } from './facts.ts';
import { type DocumentStoreOptions, objectStore } from './index.ts';

const OPTIONS = ['maxWaiters'];

/** @throws UsageError, and UnsupportedError if the SDK is not installed. */
export async function openUrl(_scheme: string, rest: string): Promise<Store> {
  const { client, objects, options } = await open(rest);
  return closingAlso(objectStore(objects, options), { end: () => client.destroy() });
}

/** The service tells no version. */
export async function facts(_scheme: string, rest: string): Promise<ServerFacts> {
  const { client, bucket, objects } = await open(rest);
  try {
    return await objectFacts(objects, bucket);
  } finally {
    client.destroy();
  }
}

async function open(rest: string) {
  const [, bucket, prefix = '', query = ''] =
    /^\/\/([^/?#@]+)(?:\/([^?#]*))?(?:\?([^#]*))?$/.exec(rest) ?? [];
  if (bucket === undefined) {
    throw new UsageError("'s3:' needs a bucket, as in 's3://plans/locks/'.");
  }
  const { options, url } = splitQuery<DocumentStoreOptions>({ query }, OPTIONS);
  const client = await s3Client(awsSettings(url));
  return { client, bucket, objects: s3Objects(client, { bucket, prefix }), options };
}
