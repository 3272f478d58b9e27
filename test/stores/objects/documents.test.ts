/** Documents in S3, through its SDK. */
import { documentsSuite } from 'holdfast/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { objectDocuments } from '../../../src/stores/objects/documents.ts';
import { missing } from '../../servers/programs.ts';
import type { S3Server } from '../../servers/s3-server.ts';
import { TcpProxy } from '../../servers/tcp-proxy.ts';
import { objectsAt, startBucket } from './bucket.ts';

const why = await missing('python');
beforeEach(({ skip }) => skip(why !== undefined, why));

let server: S3Server;
beforeAll(async () => {
  if (why !== undefined) return;
  server = await startBucket();
});
afterAll(() => server?.close());

const documents = (port = server.port, bucket?: string) => objectDocuments(objectsAt(port, bucket));

describe('S3', () => {
  documentsSuite({
    test,
    skip: (name, reason) => test(name, ({ skip }) => skip(reason)),
    create: () => documents(),
    has: ['list', 'nowMs'],
    async losing() {
      const proxy = await TcpProxy.start(server.port);
      return {
        documents: documents(proxy.port),
        losing(work) {
          proxy.toClient.set({ cutAfter: 1 });
          return work();
        },
        close: async () => proxy.close(),
      };
    },
  });
});

test('a bucket that is not there is told as what it is', async () => {
  const failed = { code: 'STORE', retryable: false, outcome: 'failed' };
  const nowhere = documents(undefined, 'nowhere');
  await expect(nowhere.get('a')).rejects.toMatchObject(failed);
  await expect(nowhere.put('a', '1', undefined)).rejects.toMatchObject(failed);
  await expect(nowhere.put('a', '1', '"x"')).rejects.toMatchObject(failed);
});
