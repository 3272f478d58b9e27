/** The servers of the guide "Express and Fastify", asked over HTTP. */
import { createServer, request } from 'node:http';
import { createLocks, type Locks } from 'holdfast';
import { memoryStore } from 'holdfast/memory';
import { afterEach, beforeEach, describe, expect, it, test } from 'vitest';
import { portOf } from '../../support/listening.ts';
import { expectShown } from './shown.ts';
import { expressApp, fastifyApp, type Ship, shutDown } from './web-servers.ts';

interface Running {
  readonly url: string;
  close(): Promise<unknown>;
}

type Start = (locks: Locks, ship: Ship) => Promise<Running>;

const startExpress: Start = async (locks, ship) => {
  const server = createServer(expressApp(locks, ship));
  return { url: `http://127.0.0.1:${await portOf(server)}`, close: () => shutDown(server, locks) };
};

const startFastify: Start = async (locks, ship) => {
  const app = fastifyApp(locks, ship);
  return { url: await app.listen({ port: 0, host: '127.0.0.1' }), close: () => app.close() };
};

/** The work of a request, which goes on when the test says so. */
class Work {
  readonly seen: string[] = [];
  readonly #doors: (() => void)[] = [];

  readonly ship: Ship = async (id, signal) => {
    this.seen.push(`begin ${id}`);
    const told = new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve());
      this.#doors.push(resolve);
    });
    await told;
    this.seen.push(signal.aborted ? `aborted ${id}` : `end ${id}`);
    return id;
  };

  finish(): void {
    this.#doors.shift()?.();
  }

  finishAll(): void {
    while (this.#doors.length > 0) this.finish();
  }
}

/** A connection that is kept for the next request would delay the end of a server for seconds. */
function postTo(url: string): Promise<Response> {
  return fetch(url, { method: 'POST', headers: { connection: 'close' } });
}

let locks: Locks;
/** Of another machine. */
let others: Locks;
let work: Work;
let running: Running;

async function begin(start: Start): Promise<void> {
  work = new Work();
  const store = memoryStore();
  [locks, others] = [createLocks(store), createLocks(store)];
  running = await start(locks, work.ship);
}

afterEach(async () => {
  work.finishAll();
  await Promise.all([running.close(), others.close()]);
});

describe.each<[string, Start]>([
  ['Express', startExpress],
  ['Fastify', startFastify],
])('with %s', (_, start) => {
  beforeEach(() => begin(start));

  const pathOf = (id: string): string => `${running.url}/orders/${id}/ship`;
  const post = (id: string): Promise<Response> => postTo(pathOf(id));

  /** On a connection of its own, which the client may break. */
  const connect = (id: string): { break(): void } => {
    const client = request(pathOf(id), { method: 'POST', agent: false }).on('error', () => {});
    client.end();
    return { break: () => client.destroy() };
  };

  const waiting = async (id: string): Promise<number> =>
    (await others.inspect(`order:${id}`)).waiters.length;

  it('requests for one order take turns', async () => {
    const first = post('a');
    await expect.poll(() => work.seen).toEqual(['begin a']);
    const second = post('a');
    work.finish();
    expect(await (await first).json()).toEqual({ sent: 'a' });
    await expect.poll(() => work.seen).toEqual(['begin a', 'end a', 'begin a']);
    work.finish();
    expect((await second).status).toBe(200);
  });

  it('who does not wait any more is not in the queue any more', async () => {
    const lease = await others.mutex('order:a').acquire();
    const client = connect('a');
    await expect.poll(() => waiting('a')).toBe(1);
    client.break();
    await expect.poll(() => waiting('a')).toBe(0);
    await lease.release();
    expect(work.seen).toEqual([]);
  });

  it('work whose client has gone is told to stop, and its lock is free', async () => {
    const client = connect('a');
    await expect.poll(() => work.seen).toEqual(['begin a']);
    client.break();
    await expect.poll(() => work.seen).toEqual(['begin a', 'aborted a']);
    await expect.poll(async () => (await locks.inspect('order:a')).holders).toEqual([]);
  });

  it('at the end running requests finish, and those that wait are sent away', async () => {
    const first = post('a');
    await expect.poll(() => work.seen).toEqual(['begin a']);
    const lease = await others.mutex('order:b').acquire();
    const second = post('b');
    await expect.poll(() => waiting('b')).toBe(1);
    const closing = running.close();
    const refused = await second;
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '10']);
    work.finish();
    expect((await first).status).toBe(200);
    await closing;
    await lease.release();
    await expect(locks.inspect('a')).rejects.toMatchObject({ code: 'CLOSED' });
  });

  it('somebody else is at it: come again', async () => {
    const lease = await others.mutex('order:a').acquire();
    const refused = await post('a');
    expect([refused.status, refused.headers.get('retry-after')]).toEqual([409, '5']);
    await lease.release();
  });
});

test('a report that is being made is made once', async () => {
  await begin(startExpress);
  const post = (): Promise<Response> => postTo(`${running.url}/report`);
  const lease = await others.mutex('report').acquire();
  const refused = await post();
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([409, '60']);
  await lease.release();
  const made = post();
  await expect.poll(() => work.seen).toEqual(['begin report']);
  work.finish();
  expect(await (await made).json()).toEqual({ sent: 'report' });
});

test('the guide shows what is tested here', () => {
  expectShown('express-and-fastify.md', new URL('web-servers.ts', import.meta.url));
});
