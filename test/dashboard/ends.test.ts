/** How streams end: with their pages, their server and their locks. */
import { once as happened } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createLocks } from 'holdfast';
import { memoryStore } from 'holdfast/memory';
import { expect, it, onTestFinished } from 'vitest';
import { Streams } from '../../src/dashboard/streams.ts';
import { MAX_RESOURCES, StoreWatcher } from '../../src/dashboard/watcher.ts';
import { engineOf } from '../../src/locks.ts';
import { gate } from '../support/gate.ts';
import { ask, BEARER, openSilently, Page, serve, start } from './bed.ts';

/** Streams without a dashboard around them, whose pages are told by hand. */
async function startStreams() {
  const locks = createLocks(memoryStore());
  const parts = { locks, engine: engineOf(locks), prefix: '', everyMs: 3_600_000, readOnly: true };
  let stops = 0;
  class CountedWatcher extends StoreWatcher {
    override stop(): void {
      stops += 1;
      super.stop();
    }
  }
  const streams = new Streams(new CountedWatcher(parts));
  onTestFinished(() => locks.close({ drain: 0 }));
  const { server, url } = await serve((request, response) => void streams.add(request, response));
  onTestFinished(() => streams.close());
  return { streams, server, url: `${url}/`, stops: () => stops };
}

const NOTHING = { changed: [], gone: [], beaten: [] };

it('ends a page at the first look after its server was closed', async () => {
  const { streams, server, url } = await startStreams();
  const { response } = await openSilently(server, url);
  streams.send(NOTHING);
  expect(response.writableEnded).toBe(false);
  server.close();
  streams.send(NOTHING);
  expect(response.writableEnded).toBe(true);
  streams.send(NOTHING);
});

it('ends its streams with its locks', async () => {
  const { url, locks } = await start();
  const page = await Page.loaded(url);
  await locks.close();
  await expect.poll(() => page.ended).toBe(true);
  expect((await ask(`${url}events`, { headers: BEARER })).status).toBe(503);
});

it('takes no page after its end, and writes to none', async () => {
  const { url, shown, store } = await start();
  const page = await Page.loaded(url);
  shown.close();
  shown.close();
  await expect.poll(() => page.ended).toBe(true);
  const { status, text } = await ask(`${url}events`, { headers: BEARER });
  expect([status, text]).toEqual([503, '{"error":"The dashboard is closed."}']);
  const looks = store.count('list').requests;
  expect((await ask(url, { headers: BEARER })).status).toBe(200);
  expect(store.count('list').requests).toBe(looks);
});

it('forgets a page that left while auth was deciding', async () => {
  const decision = gate();
  let asked = 0;
  const auth = async () => {
    asked += 1;
    if (asked === 1) await decision.opened;
    return true;
  };
  const { url, server, store } = await start({ auth });
  const served = happened(server, 'request');
  const page = new Page(url);
  const [{ socket }] = await served;
  page.leave();
  await happened(socket, 'close');
  decision.open();
  // A look would begin before another request can come and go.
  expect((await ask(url)).status).toBe(200);
  expect(store.count('list').requests).toBe(0);
});

it('cuts off a page that does not read to the end', async () => {
  const { streams, server, url } = await startStreams();
  const { response, incoming } = await openSilently(server, url);
  // More than a connection takes unread.
  streams.send({ ...NOTHING, gone: ['x'.repeat(30_000_000)] });
  streams.close();
  streams.send(NOTHING);
  await expect.poll(() => response.destroyed).toBe(true);
  incoming.resume();
  await expect.poll(() => incoming.destroyed).toBe(true);
  expect(incoming.complete).toBe(false);
});

it('cuts off a page that is behind by more names than two looks have', async () => {
  const { streams, server, url } = await startStreams();
  const { response } = await openSilently(server, url);
  const look = (round: number): void => {
    const changed = Array.from({ length: MAX_RESOURCES }, (_, n) => `${round}:${n}`);
    streams.send({ ...NOTHING, changed });
  };
  // At once, so the connection takes little in between.
  for (const round of [1, 2]) look(round);
  expect(response.destroyed).toBe(false);
  look(3);
  expect(response.destroyed).toBe(true);
  look(4);
});

it('forgets pages that wait for another one on their connection', async () => {
  const { server, url, stops } = await startStreams();
  const sockets: Socket[] = [];
  server.on('request', ({ socket }) => sockets.push(socket));
  const sent = connect(Number(new URL(url).port), '127.0.0.1');
  sent.write('GET /events HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(2));
  await expect.poll(() => sockets.length).toBe(2);
  sent.destroy();
  await expect.poll(() => sockets[0]?.destroyed).toBe(true);
  await expect.poll(stops).toBe(1);
});
