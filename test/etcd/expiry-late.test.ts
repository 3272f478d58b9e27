/**
 * Requests that were given up, and are carried out when all that speaks against them has passed:
 * their claims do not live on with others on the same lease.
 */
import { type Claim, type Store, StoreError } from 'holdfast';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { EtcdClient, KeyValue, RangeAnswer, Txn } from '../../src/stores/etcd/client.ts';
import { etcdClient } from '../../src/stores/etcd/etcd-client.ts';
import { claimOf } from '../faults/bed.ts';
import { type EtcdServer, startEtcd } from '../servers/etcd-server.ts';
import { until } from '../servers/until.ts';
import { Bed } from './fault-bed.ts';

let server: EtcdServer;

beforeAll(async () => {
  server = await startEtcd();
});
afterAll(() => server.close());

/** Nobody dies of old age on a busy machine, and tombstones can be waited for. */
const TTL_MS = 3000;

const UNKNOWN = { retryable: true, outcome: 'unknown' } as const;

/** A store whose requests can be lost. */
class Scene extends Bed {
  readonly client: EtcdClient = this.use(etcdClient(server.clientUrl));
  readonly lossy: Store;
  readonly #lost: Txn[] = [];
  #losing = '';

  constructor() {
    super(server);
    const { grant, keepAlive, revoke, timeToLive, watch } = this.client;
    const txn: EtcdClient['txn'] = (asked) => {
      if (this.#losing === '' || !written(asked).includes(this.#losing)) {
        return this.client.txn(asked);
      }
      this.#losing = '';
      this.#lost.push(asked);
      return Promise.reject(new StoreError('No answer came.', UNKNOWN));
    };
    const close = (): void => {};
    this.lossy = this.storeOf({ grant, keepAlive, revoke, timeToLive, watch, txn, close });
  }

  /** Nobody hears of it. */
  async claimInVain(claim: Claim): Promise<void> {
    this.#losing = claim.id;
    expect(await this.lossy.claim([claim])).toMatchObject([{ state: 'error' }]);
  }

  async releaseInVain(claim: Claim): Promise<void> {
    this.#losing = claim.id;
    await expect(this.lossy.release([claim])).rejects.toMatchObject({ code: 'STORE' });
  }

  /** The claims that were lost are carried out now. */
  async arrive(): Promise<void> {
    for (const txn of this.#lost) if (written(txn).includes('"put"')) await this.client.txn(txn);
  }

  async entryOf(key: string): Promise<KeyValue | undefined> {
    const { answers } = await this.client.txn({ success: [{ range: { key } }] });
    return (answers[0] as { readonly range: RangeAnswer }).range.kvs[0];
  }

  async stands({ resource, id }: Claim): Promise<boolean> {
    return (await this.entryOf(this.keys.claim(resource, id))) !== undefined;
  }

  async leaseOf({ resource, id }: Claim): Promise<bigint> {
    return (await this.entryOf(this.keys.claim(resource, id)))?.lease ?? 0n;
  }

  /** These are kept alive until something has come about. */
  async beating(claims: readonly Claim[], come: () => Promise<boolean>): Promise<void> {
    await until('did it come about', async () => {
      const states = (await this.lossy.renew(claims)).map(({ state }) => state);
      expect(states).toEqual(claims.map(() => 'held'));
      return come();
    });
  }

  /** Their lease has been kept alive anew. */
  async aHeartbeat(...claims: readonly Claim[]): Promise<void> {
    const end = performance.now() + TTL_MS / 3;
    await this.beating(claims, async () => performance.now() > end);
  }
}

function written(txn: Txn): string {
  return JSON.stringify(txn, (_, value) => (typeof value === 'bigint' ? `${value}` : value));
}

function mortal(resource: string): Claim {
  return claimOf(resource, { ttlMs: TTL_MS });
}

test.concurrent('a claim that comes after its tombstone has passed enters no queue', async () => {
  await using scene = new Scene();
  const [kept, late, next] = [mortal('kept'), mortal('late'), mortal('next')];
  await scene.lossy.claim([kept]);
  await scene.claimInVain(late);
  expect(await scene.lossy.release([{ ...late, unanswered: true }])).toEqual([false]);
  const grave = scene.keys.grave(late.id);
  expect(await scene.entryOf(grave)).toBeDefined();
  await scene.beating([kept], async () => (await scene.entryOf(grave)) === undefined);
  await scene.arrive();
  expect(await scene.stands(late)).toBe(false);
  // Others come and go as before, on the same lease.
  expect(await scene.lossy.claim([next])).toMatchObject([{ state: 'held' }]);
  expect(await scene.leaseOf(next)).toBe(await scene.leaseOf(kept));
});

test.concurrent('so does one whose release was lost as well', async () => {
  await using scene = new Scene();
  const [kept, late] = [mortal('kept'), mortal('late')];
  await scene.lossy.claim([kept]);
  await scene.claimInVain(late);
  await scene.releaseInVain(late);
  await scene.aHeartbeat(kept);
  await scene.arrive();
  expect(await scene.stands(late)).toBe(false);
});

test.concurrent('one that came too early for that is deleted with the next heartbeat', async () => {
  await using scene = new Scene();
  const [kept, late] = [mortal('kept'), mortal('late')];
  await scene.lossy.claim([kept]);
  await scene.claimInVain(late);
  await scene.lossy.release([late]);
  // As if its time had passed.
  await scene.client.txn({ success: [{ delete: { key: scene.keys.grave(late.id) } }] });
  await scene.arrive();
  expect(await scene.stands(late)).toBe(true);
  await scene.beating([kept], async () => !(await scene.stands(late)));
});

test.concurrent('a claim that was made again is not deleted, and comes but once', async () => {
  await using scene = new Scene();
  const [kept, again] = [mortal('kept'), mortal('again')];
  await scene.lossy.claim([kept]);
  await scene.claimInVain(again);
  const [status] = await scene.lossy.claim([again]);
  await scene.aHeartbeat(kept, again);
  await scene.arrive();
  await scene.aHeartbeat(kept, again);
  expect(await scene.lossy.renew([again])).toMatchObject([status && { state: status.state }]);
  expect(await scene.lossy.release([again])).toEqual([true]);
  await scene.arrive();
  expect(await scene.stands(again)).toBe(false);
});

test.concurrent('claims that miss the mark of their lease are sent again', async () => {
  await using scene = new Scene();
  const kept = claimOf('kept');
  await scene.lossy.claim([kept]);
  const lease = await scene.leaseOf(kept);
  const mark = { put: { key: scene.keys.mark(lease), value: '', lease } };
  await scene.client.txn({ success: [mark] });
  expect(await scene.lossy.claim([claimOf('a')])).toMatchObject([{ state: 'held' }]);
  await scene.client.txn({ success: [mark] });
  const others = [claimOf('kept'), claimOf('b'), claimOf('c')];
  const states = (await scene.lossy.claim(others)).map(({ state }) => state);
  expect(states).toEqual(['waiting', 'held', 'held']);
  await scene.client.txn({ success: [mark] });
  const tries = [claimOf('kept', { queue: false }), claimOf('d', { queue: false })];
  expect(await scene.lossy.claim(tries)).toMatchObject([
    { state: 'gone', why: 'refused' },
    { state: 'held' },
  ]);
});

test.concurrent('a lease that ends with its mark is replaced at once', async () => {
  await using scene = new Scene();
  const [kept, late] = [claimOf('kept', { ttlMs: TTL_MS }), claimOf('late', { ttlMs: TTL_MS })];
  await scene.lossy.claim([kept]);
  await scene.claimInVain(late);
  await scene.aHeartbeat(kept);
  await scene.client.revoke(await scene.leaseOf(kept));
  const next = [claimOf('next', { ttlMs: TTL_MS }), claimOf('more', { ttlMs: TTL_MS })];
  expect(await scene.lossy.claim(next)).toMatchObject([{ state: 'held' }, { state: 'held' }]);
  expect(await scene.lossy.renew([kept])).toEqual([{ state: 'gone', why: 'expired' }]);
});
