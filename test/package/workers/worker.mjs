// What Workers do with locks. Each request is one scene on one store, and fails with its error:
// `/memory`, `/d1`, `/objects`, then `/d1/leave` and, in a request of its own, `/d1/take`, and the
// Worker of the guide, `/page`. The guide's code lies beside this in `page`.
import assert from 'node:assert/strict';
import { createLocks, evict } from 'holdfast';
import { documentStore } from 'holdfast/document';
import { memoryStore } from 'holdfast/memory';
import { d1Documents, TABLE } from './page/d1-documents.ts';
import { objectDocuments } from './page/lock-document.ts';
import page from './page/worker.ts';

export { LockDocument } from './page/lock-document.ts';

// biome-ignore lint/style/noDefaultExport: This is how a Worker is exported.
export default {
  async fetch(request, env) {
    const [, store, scene = 'all'] = new URL(request.url).pathname.split('/');
    try {
      await env.DB.prepare(TABLE).run();
      if (store === 'page') await sendsOnce(env);
      else await SCENES[scene](storesIn(env)[store]);
      return new Response('passed');
    } catch (error) {
      return new Response(error.stack, { status: 500 });
    }
  },
};

/** What opens locks, each time as another program would. */
function storesIn(env) {
  const memory = memoryStore();
  const opening = (storeOf) => () => createLocks(storeOf(), { ttl: '4s', label: 'worker' });
  return {
    memory: opening(() => memory),
    d1: opening(() => documentStore(d1Documents(env.DB))),
    objects: opening(() => documentStore(objectDocuments(env.LOCKS))),
    broken: opening(() => documentStore(d1Documents(env.EMPTY))),
  };
}

const SCENES = {
  async all(open) {
    const [one, other] = [open(), open()];
    await tries(one, other);
    const together = [takesTurns, timesOut, livesOn, runsOut, isEvicted];
    await Promise.all(together.map((scene) => scene(one, other)));
    assert.throws(() => one.mutex(''), { code: 'USAGE' });
    await Promise.all([one.close(), other.close()]);
    await assert.rejects(async () => one.mutex('closed').acquire(), { code: 'CLOSED' });
  },

  /** The request ends while it holds the lock. */
  async leave(open) {
    await open().mutex('left').acquire();
  },

  async take(open) {
    const locks = open();
    const lease = await locks.mutex('left').acquire({ wait: '30s' });
    assert.equal(lease.takeover?.reason, 'expired');
    await lease.release();
    await locks.close();
  },

  async fail(open) {
    const locks = open();
    const refused = { code: 'STORE', message: /no such table/ };
    await assert.rejects(locks.mutex('a').tryAcquire(), refused);
    await assert.rejects(locks.inspect('a'), refused);
    await locks.close();
  },
};

async function tries(one, other) {
  const lease = await one.mutex('try').acquire();
  assert.equal(lease.held, true);
  assert.equal(await other.mutex('try').tryAcquire(), null);
  await lease.release();
  const free = await other.mutex('try').tryRun(() => 'free');
  assert.deepEqual(free, { acquired: true, value: 'free' });
}

async function takesTurns(one, other) {
  const tokens = [];
  let inside = 0;
  const work = async ({ token }) => {
    inside += 1;
    await sleep(5);
    assert.equal(inside, 1);
    assert.ok(token > (tokens.at(-1) ?? 0n));
    tokens.push(token);
    inside -= 1;
  };
  const programs = [one, other, one, other, one, other];
  await Promise.all(programs.map((locks) => locks.mutex('turns').run({ wait: '30s' }, work)));
  assert.equal(tokens.length, programs.length);
}

async function timesOut(one, other) {
  const lease = await one.mutex('time-out').acquire();
  const late = other.mutex('time-out').acquire({ wait: 200 });
  await assert.rejects(late, { code: 'ACQUIRE_TIMEOUT' });
  await lease.release();
}

/** Heartbeats keep it for longer than its ttl. */
async function livesOn(one, other) {
  await one.mutex('long').run(async (lease) => {
    await sleep(6_000);
    assert.equal(lease.held, true);
    assert.equal(await other.mutex('long').tryAcquire(), null);
  });
}

async function runsOut(one, other) {
  const lease = await one.mutex('short', { ttl: '1s', heartbeat: false }).acquire();
  await lease.ended;
  assert.equal(lease.loss?.code, 'LEASE_LOST');
  assert.throws(() => lease.assertHeld(), { code: 'LEASE_LOST' });
  const next = await other.mutex('short').acquire({ wait: '30s' });
  assert.ok(next.token > lease.token);
  await next.release();
}

async function isEvicted(one, other) {
  const work = one.mutex('evicted').run(async ({ signal, token }) => {
    await evict(other, 'evicted', { token, reason: 'to see it told', now: true });
    while (!signal.aborted) await sleep(5);
  });
  await assert.rejects(work, { code: 'LEASE_LOST', reason: 'evicted' });
}

/** Two requests of the guide's Worker for one invoice. */
async function sendsOnce(env) {
  const sent = [];
  globalThis.render = async (id) => {
    const { status } = await Promise.race(responses);
    return `pdf of ${id}, after ${status}`;
  };
  globalThis.send = async (pdf, { token }) => void sent.push([pdf, typeof token]);
  const post = () => new Request('http://shop/', { method: 'POST', body: '{ "id": "7" }' });
  const responses = [page.fetch(post(), env), page.fetch(post(), env)];
  const statuses = (await Promise.all(responses)).map(({ status }) => status);
  assert.deepEqual(statuses.sort(), [200, 409]);
  assert.deepEqual(sent, [['pdf of 7, after 409', 'bigint']]);
}

function sleep(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
