/** The store of the guide "Adding a store", on a server that keeps texts under ETags. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createLocks, type Store } from 'holdfast';
import type { Documents } from 'holdfast/document';
import { documentsSuite } from 'holdfast/testkit';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { snippetsIn } from '../tidy/snippets.ts';
import { readTree } from '../tidy/tree.ts';
import { runBlock } from './blocks.ts';

interface Shown {
  etagDocuments(base: string): Documents;
  etagStore(base: string): Store;
}

let server: Server;
let base: string;
let shown: Shown;

beforeAll(async () => {
  const block = snippetsIn(readTree()).find(({ code }) => code.includes('const etagStore ='));
  if (!block) throw new Error('The guide shows no such store.');
  const load = (name: string): Promise<Record<string, unknown>> => import(name);
  shown = (await runBlock(block, { names: {}, load })) as unknown as Shown;
  server = textServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/locks/`;
});
afterAll(() => server.close());

documentsSuite({
  test,
  skip: (name, reason) => test(name, (context) => context.skip(reason)),
  create: () => shown.etagDocuments(base),
  has: ['nowMs'],
});

test('two programs take turns', async () => {
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

/** Writes only what `If-Match` or `If-None-Match` permits; the `Date` is Node's. */
function textServer(): Server {
  const texts = new Map<string, { readonly body: string; readonly etag: string }>();
  let writes = 0;
  return createServer(async (request, response) => {
    const { url = '', method, headers } = request;
    const found = texts.get(url);
    if (method === 'GET') {
      response.writeHead(found ? 200 : 404, found && { etag: found.etag }).end(found?.body);
      return;
    }
    let body = '';
    for await (const part of request.setEncoding('utf8')) body += part;
    const current = texts.get(url)?.etag;
    if (current !== headers['if-match'] || (current && headers['if-none-match'])) {
      response.writeHead(412).end();
      return;
    }
    const etag = `"${++writes}"`;
    texts.set(url, { body, etag });
    response.writeHead(200, { etag }).end();
  });
}
