/** Servers of an ensemble die, lose each other, and come back, while its locks are in demand. */
import type { Store } from 'holdfast';
import { afterAll, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { LONG_TTL_MS, RESTART_TTL_MS } from '../../methods/faults/bed.ts';
import { Crowd } from '../../methods/faults/crowd.ts';
import { patiently, Scene } from '../../methods/faults/scene.ts';
import { serversOfTheirOwn } from '../../methods/faults/sql-bed.ts';
import { TcpProxy } from '../../servers/tcp-proxy.ts';
import {
  startZookeeperEnsemble,
  type ZookeeperEnsemble,
} from '../../servers/zookeeper-ensemble.ts';
import type { ZookeeperServer } from '../../servers/zookeeper-server.ts';
import { paced } from '../../support/this-run.ts';
import { until } from '../../support/until.ts';
import { Bed } from './fault-bed.ts';

serversOfTheirOwn();

const RESOURCES = ['a', 'b', 'c'];

/** Long enough for heartbeats over a follower on a busy machine. */
const TTL_MS = paced(3000);

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

type AnyScene = Scene<ZookeeperServer>;

class EnsembleBed extends Bed {
  /** A scene whose holder and others may use all servers. */
  scene(ttl: number): Promise<AnyScene> {
    const open = async (): Promise<Store> => this.storeAt(ensemble.url);
    return Scene.set<object, ZookeeperServer>(this, { holder: open, others: open, ttl });
  }

  /** The same, but the holder is at this server until it goes to another. */
  async sceneAt(server: ZookeeperServer, ttl: number): Promise<AnyScene> {
    const { servers, url } = ensemble;
    const ways = await Promise.all(servers.map(({ port }) => TcpProxy.start(port)));
    for (const way of ways) this.serve(way);
    const others = ways.filter((_, n) => servers[n] !== server);
    for (const way of others) way.refuse();
    const addresses = ways.map(({ host, port }) => `${host}:${port}`);
    const scene = await Scene.set<object, ZookeeperServer>(this, {
      holder: async () => this.storeAt(`zookeeper://${addresses}`),
      others: async () => this.storeAt(url),
      ttl,
    });
    await Promise.all(others.map((way) => way.accept()));
    return scene;
  }

  crowd(ttl: number): Crowd {
    const all = Array.from({ length: 4 }, () => this.locksOn(this.storeAt(ensemble.url), ttl));
    return this.use(new Crowd(all, RESOURCES));
  }
}

async function expectNoneLost(bed: Bed, crowd: Crowd): Promise<void> {
  await crowd.expectOrder();
  await bed.leave();
  await bed.expectNothingLeft(await ensemble.leader());
}

/** Both leases are confirmed by a heartbeat that is sent from now on. */
async function confirmed({ probed, queued }: AnyScene): Promise<void> {
  for (const { lease } of [probed, queued]) {
    await until('was it confirmed', () => lease.renew().then(() => true));
  }
}

async function inMode(mode: 'leader' | 'follower'): Promise<ZookeeperServer> {
  const [follower] = await ensemble.followers();
  return mode === 'leader' ? ensemble.leader() : (follower as ZookeeperServer);
}

interface Trouble {
  readonly end: () => void | Promise<void>;
}

/** Until it rejoins the others, at the end of the test at the latest. */
function cutOff(server: ZookeeperServer): Trouble {
  ensemble.cutOff(server);
  return { end: once(() => ensemble.rejoin(server)) };
}

/**
 * The others of a leader that has fallen silent need between four seconds and half a minute for the
 * next one; they are told that it is gone.
 */
function disconnect(server: ZookeeperServer): Trouble {
  ensemble.disconnect(server);
  return { end: once(() => ensemble.reconnect(server)) };
}

/** At the end of the test at the latest. */
function once(work: () => void | Promise<void>): () => void | Promise<void> {
  let due = true;
  const end = (): void | Promise<void> => {
    if (!due) return;
    due = false;
    return work();
  };
  onTestFinished(end);
  return end;
}

function pause(server: ZookeeperServer): Trouble {
  const end = (): void => server.resume();
  server.pause();
  onTestFinished(end);
  return { end };
}

/** One that knows but a server that is cut off is told that it has lost, and then others get in. */
async function expectContained(
  mode: 'leader' | 'follower',
  befall: (server: ZookeeperServer) => Trouble,
): Promise<void> {
  await using bed = new EnsembleBed();
  const cut = await inMode(mode);
  const others = ensemble.servers.filter((server) => server !== cut);
  const elsewhere = `zookeeper://${others.map(({ address }) => address)}`;
  const scene = await Scene.set<object, ZookeeperServer>(bed, {
    holder: cut,
    others: async () => bed.storeAt(elsewhere),
    ttl: TTL_MS,
  });
  const { end } = befall(cut);
  await scene.expectSucceeded();
  await end();
  await (await patiently(bed.locks(cut).mutex('afterwards'))).release();
  await scene.leave(await ensemble.leader());
}

describe('an ensemble', () => {
  serversWith(QUICK_TO_NOTICE);

  test('loses leader and follower in turn under load, and goes on', async () => {
    await using bed = new EnsembleBed();
    // Elections, of which several may be needed, are no reason to die.
    const crowd = bed.crowd(RESTART_TTL_MS);
    await crowd.goesOn();
    for (const mode of ['leader', 'follower'] as const) {
      const server = await inMode(mode);
      await server.kill();
      await crowd.goesOn();
      await server.start();
    }
    await crowd.goesOn();
    await expectNoneLost(bed, crowd);
  });

  test('whose leader dies keeps what is held and who waits', async () => {
    await using bed = new EnsembleBed();
    const scene = await bed.scene(RESTART_TTL_MS);
    await (await inMode('leader')).kill();
    await confirmed(scene);
    await scene.expectUndisturbed(0);
    await scene.leave(await ensemble.leader());
  });

  test('whose servers are restarted one by one moves the sessions', async () => {
    await using bed = new EnsembleBed();
    const scene = await bed.scene(RESTART_TTL_MS);
    for (const server of ensemble.servers) {
      await server.restart();
      await ensemble.followers();
      await confirmed(scene);
    }
    await scene.expectUndisturbed(0);
    await scene.leave(await ensemble.leader());
  });

  test('without a majority ends what is held, and begins again with it', async () => {
    await using bed = new EnsembleBed();
    const scene = await bed.scene(TTL_MS);
    const [one, two] = ensemble.servers;
    await Promise.all([one?.kill(), two?.kill()]);
    await until('knew the holder', async () => scene.probed.told && scene.queued.told);
    expect(scene.reasons).toEqual(['expired', 'expired']);
    await Promise.all([one?.start(), two?.start()]);
    await scene.expectSucceeded();
    await scene.leave(await ensemble.leader());
  });

  test('whose leader is cut off serves who knows another one', async () => {
    await using bed = new EnsembleBed();
    const leader = await inMode('leader');
    const scene = await bed.sceneAt(leader, LONG_TTL_MS);
    const { end } = disconnect(leader);
    await confirmed(scene);
    await scene.expectUndisturbed(0);
    await end();
    await ensemble.followers();
    await scene.leave(await ensemble.leader());
  });

  test('tells who knows but a leader that is cut off, before it grants anything', () =>
    expectContained('leader', disconnect));

  test('whose leader stands still goes on with another one', async () => {
    await using bed = new EnsembleBed();
    const leader = await inMode('leader');
    const scene = await bed.sceneAt(leader, LONG_TTL_MS);
    const { end } = pause(leader);
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
    await using bed = new EnsembleBed();
    const crowd = bed.crowd(TTL_MS);
    await crowd.goesOn();
    for (const mode of ['leader', 'follower'] as const) {
      const { end } = befall(await inMode(mode));
      await crowd.goesOn();
      await end();
      await crowd.goesOn();
    }
    await expectNoneLost(bed, crowd);
  });
});

describe('an ensemble that is slow to notice', () => {
  serversWith(SLOW_TO_NOTICE);

  test('whose follower is cut off serves who knows another one', async () => {
    await using bed = new EnsembleBed();
    const follower = await inMode('follower');
    const scene = await bed.sceneAt(follower, MOVING_TTL_MS);
    const { end } = cutOff(follower);
    await confirmed(scene);
    await scene.expectUndisturbed(0);
    await end();
    await scene.leave(await ensemble.leader());
  });

  test('tells who knows but a follower that is cut off, before it grants anything', () =>
    expectContained('follower', cutOff));
});
