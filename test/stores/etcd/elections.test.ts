/** Leaders and standbys. */
import { afterAll, describe, expect, test } from 'vitest';
import type { EtcdClient } from '../../../src/stores/etcd/client.ts';
import { etcdClient } from '../../../src/stores/etcd/etcd-client.ts';
import {
  electedProcesses,
  elections,
  manyLead,
  seatOf,
  standingsOf,
} from '../../methods/faults/elections.ts';
import { Race } from '../../methods/faults/race.ts';
import { startEtcd } from '../../servers/etcd-server.ts';
import { TcpProxy } from '../../servers/tcp-proxy.ts';
import { until } from '../../servers/until.ts';
import { Bed } from './fault-bed.ts';

const server = await startEtcd();
afterAll(() => server.close());

const newBed = (): Bed => new Bed(server);

describe('candidates', () => elections(newBed, 'remembers'));

describe('candidates that are processes', () => electedProcesses(newBed));

describe('an observer', () => {
  test('whose connections break again and again is told every leader', async () => {
    await using bed = newBed();
    const proxy = bed.serve(await TcpProxy.start(server.port));
    const race = new Race(bed, server);
    const observer = race.observe(proxy);
    await observer.sees('|');
    const labels = Array.from({ length: 200 }, (_, n) => `${n}`);
    await manyLead(bed.store(server), labels, (n) => {
      if (n % 20 === 10) proxy.reset();
    });
    const expected = standingsOf(labels);
    await until('was it told all', async () => observer.told.length >= expected.length);
    expect(observer.marked).toEqual(expected);
    await race.leave();
  });

  test('is not told afterwards what came before it looked', async () => {
    await using bed = newBed();
    const client = etcdClient(server.url);
    let looks = 0;
    let go: () => void = () => {};
    const gone = new Promise<void>((resolve) => (go = resolve));
    // The first look is there to see whether that is permitted.
    const txn: EtcdClient['txn'] = async (asked) => {
      if (++looks === 2) await gone;
      return client.txn(asked);
    };
    const told: string[] = [];
    const following = bed.storeOf({ ...client, txn }).follow?.('office', {
      told: ({ holders }) => told.push(holders.map(({ holder }) => holder.label).join()),
      failed: (error) => told.push(`${error}`),
    });
    await until('was it about to look', async () => looks === 2);
    let heard = 0;
    // Over the stream of the watch that is tried here.
    const watcher = client.watch({
      ...bed.keys.queue('office'),
      ...{ started: () => heard++, changed: () => heard++, lost: () => {} },
    });
    await until('did it watch', async () => heard === 1);
    const store = bed.store(server);
    const [a, b] = [seatOf('a'), seatOf('b')];
    await store.claim([a]);
    await store.claim([b]);
    await store.release([a]);
    await until('was it heard', async () => heard === 4);
    go();
    await following;
    expect(told).toEqual(['b']);
    await store.release([b]);
    await until('was it told', async () => told.length > 1);
    expect(told).toEqual(['b', '']);
    watcher[Symbol.dispose]();
  });

  test('is told that it has missed what the server has forgotten', async () => {
    await using bed = newBed();
    const proxy = bed.serve(await TcpProxy.start(server.port));
    const race = new Race(bed, server);
    const observer = race.observe(proxy);
    await observer.sees('|');
    await race.stand('a');
    await observer.sees('a|');
    proxy.refuse();
    proxy.reset();
    const b = await race.stand('b');
    await b.resign();
    await race.observer.sees('a|');
    await race.stand('c');
    const { header } = JSON.parse(await server.etcdctl('get', 'x', '--write-out=json')) as {
      readonly header: { readonly revision: number };
    };
    await server.etcdctl('compact', `${header.revision}`);
    await proxy.accept();
    await observer.sees('a|c');
    await race.stand('d');
    await observer.sees('a|c d');
    expect(observer.marked).toEqual(['|', 'a|', '...a|c', 'a|c d']);
    await race.leave();
  });
});
