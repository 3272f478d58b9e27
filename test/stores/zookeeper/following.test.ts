/** Who follows a queue of nodes: what events and lists of a server tell, and what they do not. */
import type { Queue, Store } from 'holdfast';
import type { Claim } from 'holdfast/store';
import { type ZookeeperClient, zookeeperClient, zookeeperStore } from 'holdfast/zookeeper';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { dataOf } from '../../../src/stores/zookeeper/data.ts';
import { baseOf, uuidOf } from '../../../src/stores/zookeeper/nodes.ts';
import { LONG_TTL_MS, sleep } from '../../methods/faults/bed.ts';
import { seatOf } from '../../methods/faults/elections.ts';
import { TcpProxy } from '../../servers/tcp-proxy.ts';
import { until } from '../../servers/until.ts';
import { startZookeeper, type ZookeeperServer } from '../../servers/zookeeper-server.ts';
import { counting } from './counting-client.ts';
import { Bed as AnyBed } from './fault-bed.ts';
import { striking } from './striking-client.ts';

let server: ZookeeperServer;
beforeAll(async () => {
  server = await startZookeeper();
});
afterAll(() => server.close());

class Bed extends AnyBed {
  constructor() {
    super(server);
  }

  storeOf(client: ZookeeperClient): Store {
    return this.use(zookeeperStore(client, { path: this.path }));
  }

  /** What a store tells of the queue, as `holders|waiters`; `...` before what is marked. */
  async follow(store: Store = this.store(server)): Promise<readonly string[]> {
    const told: string[] = [];
    const following = await store.follow?.('office', {
      told(queue, missed) {
        const text = described(queue);
        if (text !== told.at(-1)?.replace('...', '')) told.push(missed ? `...${text}` : text);
      },
      failed: (error) => told.push(`${error}`),
    });
    this.use({ close: async () => following?.[Symbol.asyncDispose]() });
    return told;
  }
}

function described({ holders, waiters }: Queue): string {
  return [holders, waiters].map((all) => all.map((each) => each.holder.label).join(' ')).join('|');
}

async function stand(store: Store, label: string, over: Partial<Claim> = {}): Promise<Claim> {
  const claim = seatOf(label, over);
  await store.claim([claim]);
  return claim;
}

test.concurrent('nodes that end with their session never lead', async () => {
  await using bed = new Bed();
  const store = bed.store(server);
  const first = await stand(store, 'first');
  // Their nodes go in an order that nobody knows.
  const session = zookeeperClient(server.url).start();
  for (const label of ['a', 'b', 'c', 'd', 'e', 'f']) {
    const claim = seatOf(label);
    const path = `${bed.path}/office/_c_${uuidOf(claim)}-${baseOf(claim)}`;
    await session.create(path, { kind: 'ephemeral-sequential', data: dataOf(claim) });
  }
  await stand(store, 'x');
  const told = await bed.follow();
  expect(told).toEqual(['first|a b c d e f x']);
  await store.release([first]);
  await until('led a', async () => told.at(-1) === 'a|b c d e f x');
  await session.close();
  await until('led x', async () => /^(\.\.\.)?x\|$/.test(told.at(-1) ?? ''));
  const leaders = told.map((text) => text.replace('...', '').split('|')[0]);
  expect([...new Set(leaders)]).toEqual(['first', 'a', 'x']);
});

test.concurrent('who came and went before the queue was listed is not told after it', async () => {
  await using bed = new Bed();
  const store = bed.store(server);
  const first = await stand(store, 'first');
  const { client, strike } = striking(zookeeperClient(server.url));
  const { client: counted, counts } = counting(client);
  let go: () => void = () => {};
  strike('getChildren', new Promise<void>((resolve) => (go = resolve)));
  const following = bed.follow(bed.storeOf(counted));
  await until('was it to be listed', async () => counts.get('getChildren') === 1);
  // Whoever follows as well, in another session, has heard of it.
  const others = await bed.follow();
  const passing = await stand(store, 'passing');
  await stand(store, 'last');
  await store.release([passing]);
  await store.release([first]);
  await until('was it told', async () => others.at(-1) === 'last|');
  go();
  const told = await following;
  expect(told).toEqual(['last|']);
  await stand(store, 'next');
  await until('was it told', async () => others.at(-1) === 'last|next' && told.length > 1);
  // It might as well have been after the list.
  expect(told).toEqual(['last|', '...last|next']);
});

test.concurrent('a hold that goes to another session ends no earlier', async () => {
  await using bed = new Bed();
  const store = bed.store(server);
  const claim = await stand(store, 'a');
  await stand(store, 'b');
  const told = await bed.follow();
  const session = bed.session(server);
  const [before] = await bed.nodes(session, 'office');
  // Its session might not live so long.
  expect(await store.release([claim], { ms: LONG_TTL_MS * 2 })).toEqual([true]);
  const after = await session.exists(before?.path ?? '');
  expect(after?.session).not.toBe(before?.stat.session);
  await stand(store, 'c');
  await until('was it told', async () => told.length > 1);
  expect(told).toEqual(['a|b', 'a|b c']);
});

test.concurrent('a first look has the time that others have', async () => {
  await using bed = new Bed();
  await stand(bed.store(server), 'a');
  const proxy = bed.serve(await TcpProxy.start(server.port));
  proxy.set({ flow: 'hold' });
  const following = bed.follow(bed.store(proxy));
  // Longer than a fifth of its session, which is for claims.
  await sleep(1500);
  proxy.set();
  expect(await following).toEqual(['a|']);
});
