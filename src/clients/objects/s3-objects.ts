/** Objects in a bucket of S3, through the user's client. */
import { UsageError } from '../../base/errors.ts';
import { checkName } from '../../base/names.ts';
import { readOptions } from '../../base/options.ts';
import { type AwsClient, notInstalled, sendTimed } from '../aws/send.ts';
import type { ConditionalPut, ObjectAccess } from './access.ts';

export interface S3ObjectsOptions {
  readonly bucket: string;
  /** What the keys of all objects begin with; default none. */
  readonly prefix?: string;
}

/** A key of S3 has at most this many bytes of UTF-8. */
const MAX_KEY_BYTES = 1024;

/**
 * The objects of a bucket, for `objectFence` and `objectStore`; `@aws-sdk/client-s3` is imported
 * with the first request.
 *
 * @example
 * import { S3Client } from '@aws-sdk/client-s3';
 * import { s3Objects } from 'holdfast/objects';
 *
 * const objects = s3Objects(new S3Client(), { bucket: 'plans' });
 *
 * @throws UsageError
 */
export function s3Objects(client: AwsClient, options: S3ObjectsOptions): ObjectAccess {
  const { bucket, prefix = '' } = readOptions(options, ['bucket', 'prefix'], 's3Objects');
  if (typeof client?.send !== 'function') throw new UsageError('s3Objects takes an S3Client.');
  if (typeof bucket !== 'string' || bucket === '') throw new UsageError('bucket must be a name.');
  if (typeof prefix !== 'string') throw new UsageError('prefix must be text.');

  const placeOf = (key: string): string =>
    checkName(prefix + key, 'key of an object in S3', MAX_KEY_BYTES);

  async function putTimed({ key, text, ifMatch, ifNoneMatch }: ConditionalPut) {
    const { PutObjectCommand } = await sdk();
    const command = new PutObjectCommand({
      Bucket: bucket,
      Key: placeOf(key),
      Body: text,
      ContentType: 'application/json',
      IfMatch: ifMatch,
      IfNoneMatch: ifNoneMatch,
    });
    const { output, ...timed } = await sendTimed(client, command);
    return { ...(output.ETag !== undefined && { etag: output.ETag }), ...timed };
  }

  return {
    async get(key) {
      const { GetObjectCommand } = await sdk();
      const command = new GetObjectCommand({ Bucket: bucket, Key: placeOf(key) });
      const { output, ...timed } = await sendTimed(client, command);
      const text = (await output.Body?.transformToString()) ?? '';
      return { text, etag: output.ETag ?? '', ...timed };
    },
    async put(put) {
      return (await putTimed(put)).etag;
    },
    putTimed,
    async *list(beginning) {
      const { ListObjectsV2Command } = await sdk();
      let token: string | undefined;
      do {
        const command: InstanceType<typeof ListObjectsV2Command> = new ListObjectsV2Command({
          Bucket: bucket,
          Prefix: prefix + beginning,
          ContinuationToken: token,
        });
        const { output } = await sendTimed(client, command);
        for (const { Key = '' } of output.Contents ?? []) yield Key.slice(prefix.length);
        token = output.NextContinuationToken;
      } while (token !== undefined);
    },
  };
}

function sdk() {
  return import('@aws-sdk/client-s3').catch(notInstalled('@aws-sdk/client-s3'));
}
