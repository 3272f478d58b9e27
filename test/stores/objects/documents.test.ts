/** Documents in S3, through its SDK. */
import { expect, test } from 'vitest';
import { objectDocuments } from '../../../src/stores/objects/documents.ts';
import { examined } from '../../cli/examined.ts';
import { missing } from '../../servers/programs.ts';
import { listed } from '../../support/listed.ts';
import { cutting, documentsTests, sharedServer } from '../document/service.ts';
import { objectsAt, startBucket } from './bucket.ts';

const server = sharedServer(await missing('python'), startBucket);
const documents = (port = server().port, bucket?: string) =>
  objectDocuments(objectsAt(port, bucket));

documentsTests({
  create: () => documents(),
  has: ['list', 'nowMs'],
  losing: cutting(() => server().port, documents),
});

test('a bucket that is not there is told as what it is', async () => {
  const failed = { code: 'STORE', retryable: false, outcome: 'failed' };
  const nowhere = documents(undefined, 'nowhere');
  await expect(nowhere.get('a')).rejects.toMatchObject(failed);
  await expect(nowhere.put('a', '1', undefined)).rejects.toMatchObject(failed);
  await expect(nowhere.put('a', '1', '"x"')).rejects.toMatchObject(failed);
});

test('the doctor asks the service whether it compares, and for its clock', async () => {
  const env = { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' };
  const at = `endpoint=http://127.0.0.1:${server().port}&region=us-east-1&forcePathStyle=true`;
  const found = await examined(`s3://locks/locks/?${at}`, env);
  expect(found.server?.says).toBe('the bucket locks, of a service that tells no version');
  // What it has written to find out is no lock.
  const names = await listed(documents().list?.(''));
  expect(names.filter((name) => name.includes('doctor'))).toEqual(['holdfast-doctor']);
});
