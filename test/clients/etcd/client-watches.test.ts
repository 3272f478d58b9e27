import { describe, expect, it } from 'vitest';
import type { EtcdClient } from '../../../src/clients/etcd/client.ts';
import { until } from '../../support/until.ts';
import { beginning, behindProxy, clientOf, Ear, hear, put, start } from './scene.ts';

/** Also when a request fails because a connection breaks under it. */
async function putPatiently(client: EtcdClient, key: string): Promise<void> {
  await until('written', async () => {
    await put(client, key);
    return true;
  });
}

describe('a watch', () => {
  it('tells what is written after its start, and says when that is', async () => {
    const client = clientOf((await start()).url);
    const { revision } = await put(client, 'w/before');
    const ear = await hear(client, 'w/');
    expect(ear.started).toBe(revision);
    await put(client, 'elsewhere');
    await client.txn({
      success: [
        { put: { key: 'w/b', value: '1' } },
        { put: { key: 'w/a', value: '2' } },
        { delete: { key: 'w/before' } },
      ],
    });
    await put(client, 'w/a', '3');
    await until('told', async () => ear.batches.length === 2);
    const [first, second] = ear.batches;
    expect(first?.revision).toBe(revision + 2n);
    expect(first?.changes).toMatchObject([
      { deleted: false, kv: { key: 'w/b', value: '1', createRevision: revision + 2n } },
      { deleted: false, kv: { key: 'w/a', value: '2', version: 1n } },
      { deleted: true, kv: { key: 'w/before', modRevision: revision + 2n } },
    ]);
    expect(second?.changes).toMatchObject([
      { deleted: false, kv: { key: 'w/a', value: '3', version: 2n } },
    ]);
  });

  it('begins in the past, or in the future, if it is asked to', async () => {
    const client = clientOf((await start()).url);
    const { revision } = await put(client, 'w/1');
    for (const n of [2, 3, 4]) await put(client, `w/${n}`);
    const past = await hear(client, 'w/', revision + 1n);
    const future = await hear(client, 'w/', revision + 6n);
    for (const n of [5, 6, 7, 8]) await put(client, `w/${n}`);
    await until('told', async () => past.keys.length === 7 && future.keys.length === 2);
    expect(past.keys).toEqual(['w/2', 'w/3', 'w/4', 'w/5', 'w/6', 'w/7', 'w/8']);
    expect(future.keys).toEqual(['w/7', 'w/8']);
    expect(past.started).toBe(revision + 3n);
    expect(future.started).toBe(revision + 5n);
  });

  it('is one of many that know nothing of each other', async () => {
    const client = clientOf((await start()).url);
    const names = Array.from({ length: 50 }, (_, n) => `w${n}`);
    const ears = await Promise.all(names.map((name) => hear(client, name)));
    for (const ear of ears.slice(0, 25)) ear.end();
    await Promise.all(names.map((name) => put(client, name)));
    await until('told', async () => ears.slice(25).every((ear) => ear.keys.length === 1));
    expect(ears.map((ear) => ear.keys.join())).toEqual(
      names.map((name, n) => (n < 25 ? '' : name)),
    );
  });

  it('tells nothing more once it has ended, even if it ends before it began', async () => {
    const client = clientOf((await start()).url);
    const never = new Ear(client, { key: 'w' });
    never.end();
    const other = await hear(client, 'w');
    never.end();
    await put(client, 'w');
    await until('told', async () => other.keys.length === 1);
    other.end();
    await put(client, 'w');
    await hear(client, 'x');
    expect([never.starts, never.keys, other.keys]).toEqual([0, [], ['w']]);
  });

  it('may end while it is told of something', async () => {
    const client = clientOf((await start()).url);
    const { revision } = await put(client, 'w');
    for (let n = 0; n < 5; n++) await put(client, 'w');
    let told = 0;
    const watch = client.watch({
      ...{ key: 'w', from: revision, started: () => {}, lost: () => {} },
      changed: () => {
        told++;
        watch[Symbol.dispose]();
      },
    });
    const other = new Ear(client, { key: 'w', from: revision });
    await until('told', async () => other.keys.length === 6);
    expect(told).toBe(1);
  });

  it.each(['etcd', 'etcd-3.5'] as const)(
    'goes on when %s was killed and is back, and skips nothing',
    async (program) => {
      const server = await start({ program });
      const client = clientOf(server.url);
      const ear = await hear(client, 'w/');
      await put(client, 'w/1');
      await server.kill();
      await server.start();
      // Past the client that is watched: it may have noticed nothing yet.
      await server.etcdctl('put', 'w/2', '');
      await putPatiently(client, 'w/3');
      await until('told', async () => ear.keys.includes('w/3'));
      expect(ear.keys).toEqual(['w/1', 'w/2', 'w/3']);
      expect([ear.starts, ear.losses]).toEqual([1, 0]);
    },
  );

  it('tells everything once and in order while connections break', async () => {
    const server = await start();
    const { proxy, client: watching } = await behindProxy(server);
    const ear = await hear(watching, 'w/');
    const client = clientOf(server.url);
    const keys: string[] = [];
    for (let n = 0; n < 300; n++) {
      const key = `w/${n}`;
      keys.push(key);
      await client.txn({
        success: [
          { put: { key, value: '' } },
          { put: { key: `${key}/too`, value: 'x'.repeat(n) } },
        ],
      });
      if (n % 25 === 10) proxy.reset();
      if (n % 25 === 20) proxy.toClient.set({ cutAfter: 500 + n });
    }
    proxy.set();
    await until('told', async () => ear.keys.at(-1) === 'w/299/too');
    expect(ear.keys).toEqual(keys.flatMap((key) => [key, `${key}/too`]));
    expect(ear.batches.every(({ changes }) => changes.length === 2)).toBe(true);
    expect([ear.starts, ear.losses]).toEqual([1, 0]);
  });

  it.each(['hold', 'half-open'] as const)(
    'goes on over another connection when the old one is dead (%s)',
    async (flow) => {
      const server = await start();
      const { proxy, client: watching } = await behindProxy(server);
      const ear = await hear(watching, 'w/');
      const client = clientOf(server.url);
      await put(client, 'w/1');
      await until('told', async () => ear.keys.length === 1);
      if (flow === 'hold') proxy.set({ flow });
      else proxy.halfOpen();
      await put(client, 'w/2');
      // Twice as long as the silence after which the connection is taken for dead.
      if (flow === 'hold') await new Promise((resolve) => setTimeout(resolve, 4000));
      proxy.set();
      await until('told', async () => ear.keys.length === 2);
      expect(ear.keys).toEqual(['w/1', 'w/2']);
      expect([ear.starts, ear.losses]).toEqual([1, 0]);
    },
  );

  it('is not taken for dead while nothing happens', async () => {
    const server = await start();
    const { proxy, client: watching } = await behindProxy(server);
    const ear = await hear(watching, 'w');
    const before = proxy.toServer.reached;
    // Long enough for etcd to close a connection on which pings come every second.
    await new Promise((resolve) => setTimeout(resolve, 7000));
    expect(proxy.toServer.reached).toBeGreaterThan(before);
    // A new connection would begin with a preface and settings, and ask for the watch again.
    expect(proxy.toServer.reached - before).toBeLessThan(2000);
    await put(clientOf(server.url), 'w');
    await until('told', async () => ear.keys.length === 1);
    expect(server.log).not.toContain('too_many_pings');
  });

  it('is lost when what it should tell was compacted, and others are not', async () => {
    const server = await start();
    const client = clientOf(server.url);
    const { revision } = await put(client, 'w/1');
    for (const n of [2, 3, 4]) await put(client, `w/${n}`);
    await server.etcdctl('compact', String(revision + 2n));
    const sound = await hear(client, 'w/');
    const late = new Ear(client, { ...beginning('w/'), from: revision });
    await until('lost', async () => late.losses === 1);
    expect(late.keys).toEqual([]);
    await put(client, 'w/5');
    await until('told', async () => sound.keys.length === 1);
    expect([sound.losses, late.losses, late.keys]).toEqual([0, 1, []]);
  });

  it('is lost when another cluster is at the address', async () => {
    const [one, other] = [await start(), await start()];
    const { proxy, client: watching } = await behindProxy(one);
    const ear = await hear(watching, 'w');
    proxy.lead(other.port);
    proxy.reset();
    await until('lost', async () => ear.losses === 1);
  });
});
