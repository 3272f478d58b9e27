/** What claims that wait are told by the watch of their queue, when that is not as usual. */
import { type Store, StoreError } from 'holdfast';
import type { Claim, ClaimStatus, HeldStatus } from 'holdfast/store';
import { expect } from 'vitest';
import type { EtcdClient, EtcdWatcher, Txn } from '../../../src/clients/etcd/client.ts';
import { etcdClient } from '../../../src/clients/etcd/etcd-client.ts';
import { claimOf, inTurn } from '../../methods/faults/bed.ts';
import { until } from '../../support/until.ts';
import { Bed, compact, sharedServer } from './fault-bed.ts';

const server = await sharedServer();

const inBed = inTurn(() => new Bed(server));

type Heard = { readonly client: EtcdClient; begun: boolean; count: number };

/** A client that counts the steps that its watches hear of; the queue is read `after` this. */
function hearing(url: string, after: Promise<void> = Promise.resolve()): Heard {
  const client = etcdClient(url);
  const heard: Heard = {
    ...{ begun: false, count: 0 },
    client: {
      ...client,
      watch: (watcher) =>
        client.watch({
          ...watcher,
          started(revision) {
            heard.begun = true;
            void after.then(() => watcher.started(revision));
          },
          changed(changes, revision) {
            heard.count++;
            watcher.changed(changes, revision);
          },
        }),
    },
  };
  return heard;
}

const permit = (): Claim => claimOf('a', { kind: 'permits', permits: 1, limit: 2 });

inBed('what came before the queue was read is not told after it', async (bed) => {
  let go: () => void = () => {};
  const heard = hearing(server.url, new Promise((resolve) => (go = resolve)));
  const [others, own] = [bed.store(server), bed.storeOf(heard.client)];
  const [first, second, waiter, passing] = [permit(), permit(), permit(), permit()];
  await others.claim([first]);
  await others.claim([second]);
  const hints: (ClaimStatus | undefined)[] = [];
  await own.watch?.(waiter, (hint) => hints.push(hint));
  expect(await own.claim([waiter])).toMatchObject([{ state: 'waiting' }]);
  await until('did it watch', async () => heard.begun);
  await others.claim([passing]);
  await others.release([passing]);
  await others.release([first]);
  await until('was it heard', async () => heard.count === 3);
  go();
  await until('was it told', async () => hints.length > 0);
  await others.release([second]);
  await until('was it heard', async () => heard.count === 4);
  // Once, and of nobody behind it.
  expect(hints).toMatchObject([{ state: 'held', waiters: 0 }]);
});

inBed('who waits hears of its turn although the server has forgotten a part', async (bed) => {
  const { proxy } = await bed.behindProxy();
  const heard = hearing(`http://${proxy.host}:${proxy.port}`);
  const [others, own] = [bed.store(server), bed.storeOf(heard.client)];
  const [holder, waiter, passing] = [claimOf('a'), claimOf('a'), claimOf('a')];
  await others.claim([holder]);
  const hints: (ClaimStatus | undefined)[] = [];
  await own.watch?.(waiter, (hint) => hints.push(hint));
  expect(await own.claim([waiter])).toMatchObject([{ state: 'waiting' }]);
  await until('did it watch', async () => heard.begun);
  await others.claim([passing]);
  await until('was it heard', async () => heard.count === 1);
  proxy.refuse();
  proxy.reset();
  await others.release([passing]);
  await compact(server);
  await proxy.accept();
  await others.release([holder]);
  await until('was it told', async () => hints.some((hint) => hint?.state === 'held'));
});

inBed('a watch that is not permitted any more is not asked for again and again', async (bed) => {
  const client = etcdClient(server.url);
  const watchers: EtcdWatcher[] = [];
  let denied = 0;
  let permitted = true;
  const own = bed.storeOf({
    ...client,
    async txn(asked) {
      if (permitted) return client.txn(asked);
      denied++;
      throw new StoreError('permission denied', { retryable: false, outcome: 'failed' });
    },
    watch(watcher) {
      watchers.push(watcher);
      return client.watch(watcher);
    },
  });
  const [holder, waiter] = [claimOf('a'), claimOf('a')];
  await own.claim([holder]);
  await own.claim([waiter]);
  await until('did it watch', async () => watchers.length === 1);
  permitted = false;
  watchers[0]?.lost();
  await until('was it denied', async () => denied === 1);
  permitted = true;
  // When somebody asks it watches again.
  await own.renew([waiter]);
  expect(watchers).toHaveLength(2);
});

interface Follower {
  /** Follows the queue `a`, which `others` holds and in which no claim waits. */
  readonly own: Store;
  readonly others: Store;
  readonly token: bigint;
  /** What `own` has sent since. */
  readonly asked: Txn[];
  /** Called once, before the next of these is sent. */
  before: () => Promise<unknown>;
  /** What the watch of `own` tells is kept here, for later. */
  late: (() => void)[] | undefined;
}

const nothing = async (): Promise<void> => {};

async function follower(bed: Bed, maxWaiters?: number): Promise<Follower> {
  const client = etcdClient(server.url);
  const spied: EtcdClient = {
    ...client,
    watch: (watcher) =>
      client.watch({
        ...watcher,
        changed(...news) {
          const tell = (): void => watcher.changed(...news);
          if (follows.late) follows.late.push(tell);
          else tell();
        },
      }),
    async txn(txn) {
      asked.push(txn);
      const { before } = follows;
      follows.before = nothing;
      await before();
      return client.txn(txn);
    },
  };
  const asked: Txn[] = [];
  const [own, others] = [bed.storeOf(spied, maxWaiters), bed.store(server)];
  const [held] = await others.claim([claimOf('a')]);
  const { token } = held as HeldStatus;
  const follows: Follower = { own, others, token, asked, before: nothing, late: undefined };
  await until('does it follow', async () => {
    const claim = claimOf('a');
    await own.claim([claim]);
    const reads = asked.splice(0).some(isReading);
    await own.release([claim]);
    asked.length = 0;
    return !reads;
  });
  return follows;
}

function isReading({ success }: Txn): boolean {
  return success.some((operation) => 'range' in operation);
}

inBed('a claim of a process that follows its queue reads nothing', async (bed) => {
  const { own, asked } = await follower(bed);
  const claims = [claimOf('a'), claimOf('a'), claimOf('a', { kind: 'read' })];
  const statuses: ClaimStatus[] = [];
  for (const claim of claims) statuses.push(...(await own.claim([claim])));
  expect(statuses).toMatchObject([
    { state: 'waiting', ahead: 1 },
    { state: 'waiting', ahead: 2 },
    { state: 'gone', why: 'mismatch' },
  ]);
  expect(asked.map(isReading)).toEqual([false, false, false, false]);
});

inBed('it reads the queue if its watch is late, and the next claim does not wait', async (bed) => {
  const follows = await follower(bed);
  const { own, asked } = follows;
  const late: (() => void)[] = [];
  follows.late = late;
  expect(await own.claim([claimOf('a')])).toMatchObject([{ state: 'waiting', ahead: 1 }]);
  expect(asked.splice(0).map(isReading)).toEqual([false, true]);
  expect(await own.claim([claimOf('a')])).toMatchObject([{ state: 'waiting', ahead: 2 }]);
  // It asks whether the whole queue is empty, as one that follows nothing.
  expect(asked[0]?.compare?.[0]).toHaveProperty('end');
  for (const tell of late) tell();
});

inBed('it stays if only those behind it are too many', async (bed) => {
  const follows = await follower(bed, 1);
  const late: (() => void)[] = [];
  follows.late = late;
  // The other one comes after its own claim, and before it reads the queue.
  const other = (): Promise<unknown> => follows.others.claim([claimOf('a')]);
  follows.before = async () => {
    follows.before = other;
  };
  expect(await follows.own.claim([claimOf('a')])).toMatchObject([{ state: 'waiting', ahead: 1 }]);
  for (const tell of late) tell();
});

inBed('it is told how the hold before it ended if it is admitted after all', async (bed) => {
  const follows = await follower(bed);
  const { own, others, token } = follows;
  follows.before = async () => others.evict?.('a', token, { reason: 'test', now: true });
  expect(await own.claim([claimOf('a')])).toMatchObject([
    { state: 'held', takeover: { reason: 'evicted', token } },
  ]);
});
