/** A quorum of five real servers, of which two fail in one way or another while others go on. */
import { createLocks, type Lease, type Locks } from 'holdfast';
import { quorum } from 'holdfast/quorum';
import { redisStore } from 'holdfast/redis';
import { Redis } from 'ioredis';
import { afterEach, describe, expect, it } from 'vitest';
import { closeAll, type RedisServer } from '../../servers/redis-server.ts';
import { startFive } from '../../servers/topologies.ts';
import { paced } from '../../support/this-run.ts';
import { until } from '../../support/until.ts';

/** Three heartbeats fit even when the machine is busy. */
const TTL_MS = paced(1_500);

const CLIENTS = 3;

let servers: RedisServer[] = [];
const clients: Redis[] = [];
const open: Locks[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((locks) => locks.close({ drain: 0 })));
  for (const client of clients.splice(0)) client.disconnect();
  await closeAll(servers);
});

function connect(): Locks {
  const members = servers.map(({ port }) => {
    const client = new Redis({ port });
    // Whoever lets a server fail hears of it here.
    client.on('error', () => {});
    clients.push(client);
    return redisStore(client, { maxTtl: TTL_MS });
  });
  const locks = createLocks(quorum(members), { ttl: TTL_MS });
  open.push(locks);
  return locks;
}

/** Clients that take turns; throws when two hold, or a token does not grow. */
class Turns {
  grants = 0;
  #last = 0n;
  #lineage: string | undefined;
  #holding: Lease | undefined;
  #ended = false;
  readonly #work: Promise<unknown>;

  constructor(all: readonly Locks[]) {
    this.#work = Promise.all(all.map((locks) => this.#take(locks)));
    this.#work.catch(() => {});
  }

  async end(): Promise<void> {
    this.#ended = true;
    await this.#work;
  }

  /** Waits for some more grants, or for what went wrong. */
  async more(count: number): Promise<void> {
    const enough = this.grants + count;
    const come = until(`${count} more grants`, async () => this.grants >= enough);
    await Promise.race([come, this.#work]);
    come.catch(() => {});
  }

  async #take(locks: Locks): Promise<void> {
    const lock = locks.mutex('turns', { fair: true });
    while (!this.#ended) {
      const lease = await lock.acquire();
      if (this.#holding?.held) throw new Error('Two hold at a time.');
      this.#holding = lease;
      this.#lineage ??= lease.lineage;
      expect(lease.lineage).toBe(this.#lineage);
      expect(lease.token).toBeGreaterThan(this.#last);
      this.#last = lease.token;
      this.grants++;
      // Long enough for others to queue up.
      await new Promise((resolve) => setTimeout(resolve, 5));
      await lease.release();
    }
  }
}

const FAULTS: readonly (readonly [name: string, fail: Act, heal: Act])[] = [
  ['are killed and start again without their data', (each) => each.kill(), (each) => each.start()],
  ['stand still for a while', async (each) => each.pause(), async (each) => each.resume()],
  ['forget everything', async (each) => void (await each.command('FLUSHALL')), async () => {}],
];

type Act = (server: RedisServer) => Promise<unknown>;

describe('five servers, of which two', () => {
  it.each(FAULTS)('%s', async (_, fail, heal) => {
    servers = await startFive();
    const all = Array.from({ length: CLIENTS }, connect);
    const turns = new Turns(all);
    await turns.more(10);
    // The lowest, where everybody waits, and another.
    for (const i of [0, 3]) await fail(servers[i] as RedisServer);
    await turns.more(20);
    for (const i of [0, 3]) await heal(servers[i] as RedisServer);
    await turns.more(20);
    // Now the others: the two that failed are needed.
    for (const i of [1, 4]) await fail(servers[i] as RedisServer);
    await turns.more(10);
    for (const i of [1, 4]) await heal(servers[i] as RedisServer);
    await turns.more(10);
    await turns.end();
  });

  it('are needed for a majority end a wait with an error, the hold at its deadline', async () => {
    servers = await startFive();
    const [a, b] = [connect(), connect()];
    const lease = await a.mutex('held').acquire();
    for (const server of servers.slice(0, 3)) server.pause();
    await expect(b.mutex('other').acquire()).rejects.toMatchObject({ code: 'STORE' });
    await until('the lease was lost', async () => !lease.held);
    expect(lease.loss?.reason).toMatch(/expired|stalled/);
    for (const server of servers.slice(0, 3)) server.resume();
    const next = await b.mutex('held').acquire();
    expect(next.token).toBeGreaterThan(lease.token);
    await next.release();
  });
});
