/** Servers of an ensemble die, lose each other, and come back, while its locks are in demand. */
import { afterAll, beforeAll, beforeEach, describe, onTestFinished, test } from 'vitest';
import { LONG_TTL_MS, RESTART_TTL_MS } from '../../methods/faults/bed.ts';
import {
  confirmed,
  crowdOn,
  expectContained,
  expectNoneLost,
  inMode,
  losses,
  type Mode,
  sceneOn,
  TTL_MS,
} from '../../methods/faults/cluster.ts';
import { Scene } from '../../methods/faults/scene.ts';
import { serversOfTheirOwn } from '../../methods/faults/sql-bed.ts';
import { TcpProxy } from '../../servers/tcp-proxy.ts';
import type { ZookeeperEnsemble } from '../../servers/zookeeper-ensemble.ts';
import { startZookeeperEnsemble } from '../../servers/zookeeper-ensemble.ts';
import type { ZookeeperServer } from '../../servers/zookeeper-server.ts';
import { Bed } from './fault-bed.ts';

serversOfTheirOwn();

/**
 * Whoever hears nothing of its leader for 3 s elects another one, and soon: by default, one who
 * looks for a leader says so at intervals that double, and waits for whoever is cut off.
 */
const QUICK_TO_NOTICE = [
  ...['syncLimit=15', 'initLimit=15'],
  ...['fastleader.maxNotificationInterval=500', 'cnxTimeout=500'],
];

/** Who is cut off from its leader serves its clients for 15 s: long after a TTL. */
const SLOW_TO_NOTICE = ['syncLimit=75'];
/** Another server is found in it, and it is over before the one that is cut off has noticed. */
const MOVING_TTL_MS = 12_000;

let ensemble: ZookeeperEnsemble;

/** For the tests around it, one after the other. */
function serversWith(config: readonly string[]): void {
  beforeAll(async () => {
    ensemble = await startZookeeperEnsemble({ config });
  });
  beforeEach(async () => {
    await Promise.all(ensemble.servers.map((server) => server.running || server.start()));
    await ensemble.followers();
  });
  afterAll(() => ensemble?.close());
}

/** The holder is at this server until it goes to another. */
async function sceneAt(
  bed: Bed,
  server: ZookeeperServer,
  ttl: number,
): Promise<Scene<ZookeeperServer>> {
  const { servers } = ensemble;
  const ways = await Promise.all(servers.map(({ port }) => TcpProxy.start(port)));
  for (const way of ways) bed.serve(way);
  const others = ways.filter((_, n) => servers[n] !== server);
  for (const way of others) way.refuse();
  const scene = await Scene.set<object, ZookeeperServer>(bed, {
    holder: async () => bed.storeOn(ways),
    others: async () => bed.storeOn(servers),
    ttl,
  });
  await Promise.all(others.map((way) => way.accept()));
  return scene;
}

type End = () => void | Promise<void>;
type Befall = (server: ZookeeperServer) => End;

/** Until it rejoins the others, at the end of the test at the latest. */
function cutOff(server: ZookeeperServer): End {
  ensemble.cutOff(server);
  return once(() => ensemble.rejoin(server));
}

/**
 * The others of a leader that has fallen silent need between four seconds and half a minute for the
 * next one; they are told that it is gone.
 */
function disconnect(server: ZookeeperServer): End {
  ensemble.disconnect(server);
  return once(() => ensemble.reconnect(server));
}

/** At the end of the test at the latest. */
function once(work: End): End {
  let due = true;
  const end: End = () => {
    if (!due) return;
    due = false;
    return work();
  };
  onTestFinished(end);
  return end;
}

function pause(server: ZookeeperServer): End {
  server.pause();
  return once(() => server.resume());
}

/** A process that knows another server than the one that this befalls goes there. */
async function served(mode: Mode, ttl: number, befall: Befall): Promise<void> {
  await using bed = new Bed();
  const server = await inMode(mode, ensemble);
  const scene = await sceneAt(bed, server, ttl);
  const end = befall(server);
  await confirmed(scene);
  await scene.expectUndisturbed(0);
  await end();
  if (mode === 'leader') await ensemble.followers();
  await scene.leave(await ensemble.leader());
}

async function contained(mode: Mode, befall: Befall): Promise<void> {
  await using bed = new Bed();
  await expectContained(bed, ensemble, { cut: await inMode(mode, ensemble), befall });
}

describe('an ensemble', () => {
  serversWith(QUICK_TO_NOTICE);

  losses(
    () => new Bed(),
    () => ensemble,
  );

  test('whose servers are restarted one by one moves the sessions', async () => {
    await using bed = new Bed();
    const scene = await sceneOn(bed, ensemble, RESTART_TTL_MS);
    for (const server of ensemble.servers) {
      await server.restart();
      await ensemble.followers();
      await confirmed(scene);
    }
    await scene.expectUndisturbed(0);
    await scene.leave(await ensemble.leader());
  });

  test('whose leader is cut off serves who knows another one', () =>
    served('leader', LONG_TTL_MS, disconnect));

  test('tells who knows but a leader that is cut off, before it grants anything', () =>
    contained('leader', disconnect));

  test('whose leader stands still goes on with another one', async () => {
    await using bed = new Bed();
    const leader = await inMode('leader', ensemble);
    const scene = await sceneAt(bed, leader, LONG_TTL_MS);
    const end = pause(leader);
    await confirmed(scene);
    // It wakes up, and believes for a moment that it leads.
    await end();
    await scene.expectUndisturbed(TTL_MS);
    await scene.leave(await ensemble.leader());
  });

  test.each([
    ['stand still', pause],
    ['are cut off', disconnect],
  ] as const)('whose servers %s in turn grants nothing that is held', async (_, befall) => {
    await using bed = new Bed();
    const crowd = crowdOn(bed, ensemble, TTL_MS);
    await crowd.goesOn();
    for (const mode of ['leader', 'follower'] as const) {
      const end = befall(await inMode(mode, ensemble));
      await crowd.goesOn();
      await end();
      await crowd.goesOn();
    }
    await expectNoneLost(bed, ensemble, crowd);
  });
});

describe('an ensemble that is slow to notice', () => {
  serversWith(SLOW_TO_NOTICE);

  test('whose follower is cut off serves who knows another one', () =>
    served('follower', MOVING_TTL_MS, cutOff));

  test('tells who knows but a follower that is cut off, before it grants anything', () =>
    contained('follower', cutOff));
});
