/** Each package's connections to the primary that Sentinels name, through a real fail-over. */
import { createSentinel } from 'redis5';
import { expect, test } from 'vitest';
import { startSentinels } from '../../servers/topologies.ts';
import { TooLate, until } from '../../support/until.ts';
import { Links, packages } from './packages.ts';

test('all packages follow a fail-over, send nothing twice and go on listening', async () => {
  await using links = new Links();
  const set = links.serve(await startSentinels());
  const given = await Promise.all(packages.map((its) => its.sentinel(set.sentinels, set.name)));
  const all = given.map((client, i) => {
    const link = links.to(client);
    return { link, key: packages[i]?.name ?? '', heard: [] as string[], answered: 0, unknown: 0 };
  });
  for (const one of all) {
    await one.link.follow('k', 'news', (message = 'resumed') => one.heard.push(message));
    expect(await one.link.send(one.key, ['INCR', one.key])).toBe(1);
  }
  let over = false;
  const working = all.map(async (one) => {
    while (!over) {
      await one.link.send(one.key, ['INCR', one.key]).then(
        () => one.answered++,
        (error: { outcome: string; retryable: boolean }) => {
          expect(error).toMatchObject({ code: 'STORE', retryable: true });
          if (error.outcome === 'unknown') one.unknown++;
        },
      );
      // As core does, which asks again after a pause.
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  });
  await set.primary.kill();
  const primary = await set.promoted(set.primary);
  const before = all.map(({ answered }) => answered);
  await until('all worked again', async () =>
    all.every(({ answered }, i) => answered > (before[i] ?? 0) + 3),
  );
  over = true;
  await Promise.all(working);
  for (const one of all) {
    const value = Number(await primary.command('GET', one.key));
    // What the old primary took along is missing; nothing is there twice.
    expect(value).toBeLessThanOrEqual(1 + one.answered + one.unknown);
  }
  await until('all listened again', async () => {
    // Sentinels may change their minds again while the machine is busy.
    const now = await set.promoted(set.primary);
    await now.command('PUBLISH', 'news', 'after');
    return all.every(({ heard }) => heard.includes('after'));
  });
  for (const { heard } of all) {
    expect(heard.indexOf('resumed')).toBeGreaterThanOrEqual(0);
    expect(heard.indexOf('resumed')).toBeLessThan(heard.indexOf('after'));
  }
});

test.each(packages)(
  '$name: a primary that became a replica is left for the new one',
  async (its) => {
    await using links = new Links();
    const set = links.serve(await startSentinels());
    const client = await its.sentinel(set.sentinels, set.name);
    const link = links.to(client);
    await link.send('k', ['SET', 'k', '1']);
    // Sentinel would cut the connections; here nothing tells but the refusal to write.
    const [replica] = set.replicas;
    await set.primary.command('REPLICAOF', replica?.host ?? '', replica?.port ?? 0);
    await set.sentinels[0]?.command('SENTINEL', 'FAILOVER', set.name);
    const refusals: string[] = [];
    await until('wrote again', async () => {
      try {
        return (await link.send('k', ['SET', 'k', '2'])) === 'OK';
      } catch (error) {
        refusals.push((error as Error).message);
        return false;
      }
    });
    expect(refusals.join()).toMatch(/READONLY/);
  },
);

// Version 5 of node-redis has to be connected, which is up to the program.
const asking = packages.filter(({ name }) => name !== 'node-redis 5');

test.each(asking)('$name: Sentinels that are away are told as such', async (its) => {
  await using links = new Links();
  const client = await its.sentinel([{ host: '127.0.0.1', port: 1 }], 'x');
  const away = { code: 'STORE', retryable: true, outcome: 'failed' };
  await expect(links.to(client).send('k', ['PING'])).rejects.toMatchObject(away);
});

test('a Sentinel client of node-redis 5 that is not connected is told so', async () => {
  await using links = new Links();
  const client = createSentinel({ name: 'x', sentinelRootNodes: [{ host: '127.0.0.1', port: 1 }] });
  const told = {
    code: 'STORE',
    outcome: 'failed',
    message: expect.stringMatching(/not connected/),
  };
  await expect(links.to(client).send('k', ['PING'])).rejects.toMatchObject(told);
});

test.each(packages)('$name: a fail-over in good order leaves nobody behind', async (its) => {
  await using links = new Links();
  const set = links.serve(await startSentinels());
  const client = await its.sentinel(set.sentinels, set.name);
  // Version 6 of node-redis tells of fail-overs once it is connected.
  if ('getSentinelNode' in client && !client.isOpen) await client.connect();
  const link = links.to(client);
  await link.send('k', ['SET', 'k', '1']);
  const [, sentinel] = set.sentinels;
  await until('could be asked to', async () => {
    return (await sentinel?.command('SENTINEL', 'FAILOVER', set.name)) === 'OK';
  });
  const next = await set.promoted(set.primary);
  // The old one takes writes for ten seconds more; nothing but the Sentinels says that it is over.
  const isReplica = async (): Promise<boolean> => {
    const [role] = (await set.primary.command('ROLE')) as unknown[];
    return role !== 'master';
  };
  let tooLate = false;
  await until('asked the next one', async () => {
    tooLate = await isReplica();
    await link.send('k', ['SET', 'k', 'next']).catch(() => {});
    return (await next.command('GET', 'k')) === 'next';
  });
  if (tooLate) throw new TooLate('went before the Sentinels cut it off');
});
