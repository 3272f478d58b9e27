/**
 * Upstash's part of the guide "Cloudflare Workers", before a real Redis: a bridge passes each
 * command that is posted on to it, and replies as Upstash's REST API does.
 */
import { createServer } from 'node:http';
import { createLocks } from 'holdfast';
import { type Documents, documentStore } from 'holdfast/document';
import { Redis } from 'ioredis';
import { describe, expect, test } from 'vitest';
import { runShown } from '../methods/guide/blocks.ts';
import { documentsTests, sharedServer } from '../stores/document/service.ts';
import { portOf } from '../support/listening.ts';
import { missing } from './programs.ts';
import { RedisServer } from './redis-server.ts';

const TOKEN = 'a secret';

async function startBridge(): Promise<{ readonly url: string; close(): Promise<void> }> {
  const redis = await RedisServer.start();
  const client = new Redis(redis.url);
  const replyTo = async (body: string): Promise<{ result: unknown } | { error: string }> => {
    try {
      const [name = '', ...values] = JSON.parse(body) as string[];
      return { result: await client.call(name, ...values) };
    } catch (error) {
      return { error: (error as Error).message };
    }
  };
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const part of request.setEncoding('utf8')) body += part;
    const allowed = request.headers.authorization === `Bearer ${TOKEN}`;
    const reply = allowed ? await replyTo(body) : { error: 'Unauthorized' };
    const status = 'result' in reply ? 200 : allowed ? 400 : 401;
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(JSON.stringify(reply));
  });
  const port = await portOf(server);
  const close = async (): Promise<void> => {
    server.close();
    client.disconnect();
    await redis.close();
  };
  return { url: `http://127.0.0.1:${port}`, close };
}

type Shown = { upstashDocuments(url: string, token: string): Documents };

const { upstashDocuments } = await runShown<Shown>('// upstash-documents.ts');
const bridge = sharedServer(await missing('redis'), startBridge);
const documents = (token = TOKEN): Documents => upstashDocuments(bridge().url, token);

describe('Upstash, as the guide has it', () => {
  documentsTests({ create: () => documents(), has: ['nowMs'] });
});

test('two programs take turns', async () => {
  await using one = createLocks(documentStore(documents()));
  await using other = createLocks(documentStore(documents()));
  const lease = await one.mutex('stock').acquire();
  expect(await other.mutex('stock').tryAcquire()).toBeNull();
  const next = other.mutex('stock').run(({ token }) => token);
  await lease.release();
  expect(await next).toBeGreaterThan(lease.token);
});

test('an error of the service is told', async () => {
  await using locks = createLocks(documentStore(documents('another')));
  const refused = { code: 'STORE', message: expect.stringContaining('Unauthorized') };
  await expect(locks.mutex('a').tryAcquire()).rejects.toMatchObject(refused);
});
