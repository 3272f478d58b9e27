/** A bucket, and the objects in it, on a server that speaks as S3 does. */
import { S3Client } from '@aws-sdk/client-s3';
import { type ObjectAccess, s3Objects } from 'holdfast/objects';
import { S3Server } from '../../servers/s3-server.ts';

export async function startBucket(): Promise<S3Server> {
  const server = await S3Server.start();
  await server.bucket('locks');
  return server;
}

export function objectsAt(port: number, bucket = 'locks'): ObjectAccess {
  const client = new S3Client({
    ...{ endpoint: `http://127.0.0.1:${port}`, forcePathStyle: true, region: 'us-east-1' },
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  });
  return s3Objects(client, { bucket, prefix: 'locks/' });
}
