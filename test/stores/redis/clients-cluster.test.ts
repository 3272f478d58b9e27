/** Each package's connections to a cluster, while slots and primaries change their places. */
import { afterAll, describe, expect, test } from 'vitest';
import type { RedisLink, RedisReply } from '../../../src/clients/redis/link.ts';
import { slotOf } from '../../../src/clients/redis/slots.ts';
import { inTurn } from '../../methods/faults/bed.ts';
import { startCluster } from '../../servers/cluster.ts';
import type { RedisServer } from '../../servers/redis-server.ts';
import { until } from '../../support/until.ts';
import { Links, packages } from './packages.ts';

const cluster = await startCluster();
afterAll(() => cluster.close());

const inBed = inTurn(() => new Links());

const WAIT = ['WAIT', '0', '0'];
const INCREASE_TWO = "redis.call('INCR', KEYS[1]); return redis.call('INCR', KEYS[2])";

/** By all primaries. */
async function carriedOut(command: string): Promise<number> {
  const primaries = await cluster.primaries();
  const calls = await Promise.all(primaries.map((server) => server.calls(command)));
  return calls.reduce((sum, each) => sum + each);
}

test('slots are where the server has them', async () => {
  for (let i = 0; i < 200; i++) {
    const key = [`k${i}`, `a{t${i}}b`, `{}${i}`, `x{{${i}}}y`, `é${i}`][i % 5] ?? '';
    expect(await cluster.nodes[0]?.command('CLUSTER', 'KEYSLOT', key)).toBe(slotOf(key));
  }
});

describe.each(packages)('$name', (its) => {
  /** Registers a test with a link to the cluster. */
  function onLink(title: string, act: (link: RedisLink) => Promise<void>): void {
    inBed(title, (links) => act(links.to(its.cluster(cluster.addresses))));
  }

  onLink('sends each command to the server of its slot, with or without a key', async (link) => {
    expect(link.cluster).toBe(true);
    const keys = Array.from({ length: 60 }, (_, i) => `${its.name} ${i}`);
    await Promise.all(keys.map((key) => link.send(key, ['SET', key, key])));
    expect(await Promise.all(keys.map((key) => link.send(key, ['GET', key])))).toEqual(keys);
    for (const key of keys.slice(0, 6)) {
      const info = String(await link.send(key, ['INFO', 'server']));
      const { port } = await cluster.primaryOf(slotOf(key));
      expect(info).toContain(`tcp_port:${port}\r\n`);
    }
    const primaries = await link.primaries();
    expect(primaries).toHaveLength(3);
    const ids = await Promise.all(primaries.map((send) => send(['CLUSTER', 'MYID'])));
    expect(new Set(ids).size).toBe(3);
    await expect(link.send('a', ['MSET', 'a', '1', 'b', '2'])).rejects.toMatchObject({
      ...{ retryable: false, outcome: 'failed', message: expect.stringContaining('CROSSSLOT') },
    });
  });

  onLink('follows a slot that is handed over, and sends nothing twice', async (link) => {
    const tag = `move ${its.name}`;
    const [old = '', fresh = ''] = [`{${tag}}old`, `{${tag}}new`];
    // No server knows it from another test.
    const script = `return redis.call('INCR', KEYS[1]) -- ${its.name}`;
    const before = await carriedOut('incr');
    const sha = String(await link.send(old, ['SCRIPT', 'LOAD', script]));
    const increase = (key: string): Promise<RedisReply> =>
      link.send(key, ['EVALSHA', sha, '1', key]);
    const both = ['EVAL', INCREASE_TWO, '2', old, fresh];
    expect(await increase(old)).toBe(1);
    const to = await cluster.migrate({
      slot: slotOf(tag),
      halfway: async () => {
        // The old key is still here; the new one would be made there, which asks for ASKING.
        expect(await increase(old)).toBe(2);
        await expect(increase(fresh)).rejects.toThrow(/NOSCRIPT/);
        await link.send(fresh, ['SCRIPT', 'LOAD', script]);
        expect(await increase(fresh)).toBe(1);
        expect(await link.send(old, ['INCR', old])).toBe(3);
        const replies = await link.sendAll(fresh, [['INCR', fresh], WAIT]);
        expect(replies).toEqual([2, expect.any(Number)]);
        await expect(link.send(old, both)).rejects.toThrow(/TRYAGAIN/);
      },
    });
    // It is told by MOVED, and known from then on.
    expect(await increase(old)).toBe(4);
    expect(await increase(fresh)).toBe(3);
    expect(await link.send(old, both)).toBe(4);
    expect(String(await link.send(old, ['INFO', 'server']))).toContain(`tcp_port:${to.port}\r\n`);
    expect(await link.send(old, WAIT)).toEqual(expect.any(Number));
    expect((await carriedOut('incr')) - before).toBe(9);
  });

  onLink('a WAIT goes with the command before it that is sent elsewhere', async (link) => {
    const tag = `wait ${its.name}`;
    await link.send(tag, ['SET', tag, '1']);
    await cluster.migrate({ slot: slotOf(tag) });
    const replies = await link.sendAll(tag, [['INCR', tag], WAIT]);
    expect(replies).toEqual([2, expect.any(Number)]);
  });

  inBed('one subscription hears what any server is told, and survives its own', async (links) => {
    const link = links.to(its.cluster(cluster.addresses, { name: 'listener' }));
    const heard: string[] = [];
    let resumed = 0;
    const wake = (message?: string) => (message === undefined ? resumed++ : heard.push(message));
    await link.follow('k', 'news', wake, 'cluster');
    const listeners = async (): Promise<readonly { node: RedisServer; id: string }[]> => {
      const found = cluster.nodes.map(async (node) =>
        (await node.listeners('listener')).map((id) => ({ node, id })),
      );
      return (await Promise.all(found)).flat();
    };
    for (const node of cluster.nodes) await node.command('PUBLISH', 'news', `${node.port}`);
    await until('heard all', async () => heard.length === cluster.nodes.length);
    const [one] = await listeners();
    await one?.node.command('CLIENT', 'KILL', 'ID', one.id);
    await until('resumed', async () => resumed === 1);
    expect(await listeners()).toHaveLength(1);
    await until('heard it', async () => {
      // The servers may lose a message among themselves.
      await cluster.nodes[5]?.command('PUBLISH', 'news', 'again');
      return heard.at(-1) === 'again';
    });
  });

  inBed('what listens goes with the commands when its primary steps down', async (links) => {
    const link = links.to(its.cluster(cluster.addresses, { name: 'follower' }));
    let resumed = 0;
    await link.follow('k', 'news of all', () => resumed++, 'cluster');
    const listening = async (node: RedisServer): Promise<boolean> =>
      (await node.listeners('follower')).length > 0;
    for (const primary of await cluster.primaries()) {
      if (!(await listening(primary))) continue;
      await cluster.failOver(primary);
      // The old one goes on as a replica, and a command finds out.
      for (const send of await link.primaries()) await send(['PING']);
      const keys = Array.from({ length: 60 }, (_, i) => `${its.name} ${i}`);
      for (const key of keys) await link.send(key, ['SET', key, '1']);
      await until('left the old one', async () => !(await listening(primary)));
    }
    await until('listened elsewhere', async () => resumed > 0);
  });

  inBed('goes on when a primary is killed: with its replica, and listening', async (links) => {
    const link = links.to(its.cluster(cluster.addresses));
    let resumed = 0;
    const heard: string[] = [];
    const wake = (message?: string) => (message === undefined ? resumed++ : heard.push(message));
    const name = 'mourner';
    const listeners = Array.from({ length: 12 }, () =>
      links.to(its.cluster(cluster.addresses, { name })),
    );
    await Promise.all(listeners.map((each) => each.follow('k', 'news', wake, 'cluster')));
    let key: string;
    let gone: RedisServer;
    let i = 0;
    do {
      key = `killed ${its.name} ${i++}`;
      gone = await cluster.primaryOf(slotOf(key));
    } while ((await gone.listeners(name)).length === 0);
    await link.send(key, ['SET', key, '1']);
    await gone.kill();
    const failures: unknown[] = [];
    await until('found the replica', async () => {
      try {
        return (await link.send(key, ['SET', key, '2'])) === 'OK';
      } catch (error) {
        failures.push(error);
        return false;
      }
    });
    for (const error of failures) expect(error).toMatchObject({ code: 'STORE', retryable: true });
    await until('all subscriptions stood', async () => {
      heard.length = 0;
      await link.send(key, ['PUBLISH', 'news', 'x']);
      await new Promise((resolve) => setTimeout(resolve, 50));
      return heard.length === 12;
    });
    expect(resumed).toBeGreaterThan(0);
    await gone.start();
    await cluster.settled();
  });

  inBed('a cluster that is away is told as such', async (links) => {
    const link = links.to(its.cluster([{ host: '127.0.0.1', port: 1 }]));
    const away = { code: 'STORE', retryable: true, outcome: 'failed' };
    await expect(link.send('k', ['PING'])).rejects.toMatchObject(away);
    const followed = link.follow('k', 'news', () => {}, 'cluster');
    await expect(followed).rejects.toMatchObject({ code: 'STORE' });
  });

  onLink('closed while it looks for the cluster: no rejection is unhandled', async (link) => {
    const asked = link.send('k', ['PING']).catch((error: unknown) => error);
    const late = link.close().then(() => link.send('k', ['PING']));
    expect(await asked).toMatchObject({ code: 'STORE', retryable: false, outcome: 'failed' });
    await expect(late).rejects.toMatchObject({ code: 'STORE', retryable: false });
  });
});
