/** The store that a URL of S3 names: `s3://bucket/prefix/?region=eu-west-1`. */
import { UsageError } from '../../base/errors.ts';
import { awsSettings } from '../../clients/aws/from-query.ts';
import { s3Client, s3Objects } from '../../clients/objects/s3-objects.ts';
import type { Store } from '../../contract/store.ts';
import { type DocumentStoreOptions, documentStore } from '../document/index.ts';
import { splitQuery } from '../url-options.ts';
import { objectDocuments } from './documents.ts';

const OPTIONS = ['maxWaiters'];

/** @throws UsageError, and UnsupportedError if the SDK is not installed. */
export async function openUrl(_scheme: string, rest: string): Promise<Store> {
  const [, bucket, prefix = '', query = ''] =
    /^\/\/([^/?#@]+)(?:\/([^?#]*))?(?:\?([^#]*))?$/.exec(rest) ?? [];
  if (bucket === undefined)
    throw new UsageError("'s3:' needs a bucket, as in 's3://plans/locks/'.");
  const { options, url } = splitQuery<DocumentStoreOptions>({ query }, OPTIONS);
  const client = await s3Client(awsSettings(url));
  const documents = objectDocuments(s3Objects(client, { bucket, prefix }));
  return documentStore({ ...documents, close: async () => client.destroy() }, options);
}
