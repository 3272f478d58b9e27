/** The store of the guide "Adding a store", on a server that keeps texts under ETags. */
import { createServer, type Server } from 'node:http';
import { createLocks, type Store } from 'holdfast';
import type { Documents } from 'holdfast/document';
import { documentsSuite } from 'holdfast/testkit';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { portOf } from '../../support/listening.ts';
import { runShown } from './blocks.ts';

interface Shown {
  etagDocuments(base: string): Documents;
  etagStore(base: string): Store;
}

const servers: Server[] = [];
const shown = await runShown<Shown>('const etagStore =');
afterAll(() => {
  for (const server of servers) server.close();
});

describe.each([412, 404])('a server that replies %i to a write onto what is gone', (missing) => {
  let base: string;
  beforeAll(async () => {
    base = await start(textServer(missing));
  });

  documentsSuite({
    test,
    skip: (name, reason) => test(name, (context) => context.skip(reason)),
    create: () => shown.etagDocuments(base),
    has: ['nowMs'],
  });
});

test('two programs take turns', async () => {
  const base = await start(textServer(412));
  await using one = createLocks(shown.etagStore(base));
  await using other = createLocks(shown.etagStore(base));
  const lease = await one.mutex('stock').acquire();
  expect(await other.mutex('stock').tryAcquire()).toBeNull();
  const next = other.mutex('stock').run(({ token }) => token);
  await lease.release();
  expect(await next).toBeGreaterThan(lease.token);
});

test('a server that is away is a typed error', async () => {
  const away = shown.etagDocuments('http://127.0.0.1:1/');
  const error = { code: 'STORE', outcome: 'unknown', retryable: true };
  await expect(away.get('a')).rejects.toMatchObject(error);
});

test.each([
  [400, { outcome: 'failed', retryable: false }],
  [404, { outcome: 'failed', retryable: false }],
  [503, { outcome: 'unknown', retryable: true }],
])('a write that is replied to with %i is a typed error', async (status, error) => {
  const server = createServer((_, response) => void response.writeHead(status).end());
  const documents = shown.etagDocuments(await start(server));
  const refused = { code: 'STORE', ...error };
  await expect(documents.put('a', '1', undefined)).rejects.toMatchObject(refused);
});

async function start(server: Server): Promise<string> {
  servers.push(server);
  return `http://127.0.0.1:${await portOf(server)}/locks/`;
}

/**
 * Writes only what `If-Match` or `If-None-Match` permits, and only below its folder; replies
 * `missing` to a write onto a version where nothing is. The `Date` is Node's.
 */
function textServer(missing: number): Server {
  const texts = new Map<string, { readonly body: string; readonly etag: string }>();
  let writes = 0;
  return createServer(async (request, response) => {
    const { url = '', method, headers } = request;
    const found = texts.get(url);
    if (!/^\/locks\/./.test(url)) {
      response.writeHead(405).end();
      return;
    }
    if (method === 'GET') {
      response.writeHead(found ? 200 : 404, found && { etag: found.etag }).end(found?.body);
      return;
    }
    let body = '';
    for await (const part of request.setEncoding('utf8')) body += part;
    const current = texts.get(url)?.etag;
    if (current !== headers['if-match'] || (current && headers['if-none-match'])) {
      response.writeHead(current ? 412 : missing).end();
      return;
    }
    const etag = `"${++writes}"`;
    texts.set(url, { body, etag });
    response.writeHead(200, { etag }).end();
  });
}
