/** The primary of a Sentinel group dies, or is replaced, while its locks are in demand. */
import { type RedisOptions, redisStore } from 'holdfast/redis';
import { describe, expect, test } from 'vitest';
import { inBeds, MAX_TTL_MS, sleep } from '../../methods/faults/bed.ts';
import { Crowd } from '../../methods/faults/crowd.ts';
import { Scene } from '../../methods/faults/scene.ts';
import { disorderOf } from '../../methods/histories/holds.ts';
import { Child } from '../../methods/processes/child.ts';
import type { Keep, TakerOptions, Took } from '../../methods/processes/children/taker.ts';
import { machineMs } from '../../methods/processes/children/talk.ts';
import type { RedisServer } from '../../servers/redis-server.ts';
import { follow, type Sentinels, startSentinels } from '../../servers/topologies.ts';
import { paced, WHOLE } from '../../support/this-run.ts';
import { TooLate, until } from '../../support/until.ts';
import { Bed, type ClientName } from './bed.ts';
import { LATEST } from './packages.ts';

const inBed = inBeds(() => new Bed());

/** A fail-over takes one or two seconds, and longer on a busy machine. */
const LONG_TTL_MS = paced(6000);

const RESOURCES = ['a', 'b', 'c'];

async function sentinels(bed: Bed): Promise<Sentinels> {
  const servers = bed.serve(await startSentinels({ config: ['min-replicas-max-lag 1'] }));
  await bed.settle(servers.primary);
  return servers;
}

/** Stores on a group, of a client of each package in turn. */
function openers(bed: Bed, { sentinels: addresses, name }: Sentinels) {
  return LATEST.map((each) => async (options: RedisOptions = {}) => {
    const client = await each.sentinel(addresses, name);
    return bed.use(redisStore(client, { maxTtl: MAX_TTL_MS, ...options }));
  });
}

describe('a fail-over by Sentinels', () => {
  inBed('under load: nobody is granted what is held, and everybody gets on', async (bed) => {
    const servers = await sentinels(bed);
    const stores = await Promise.all(openers(bed, servers).map((open) => open()));
    const all = stores.map((store) => bed.locksOn(store));
    const crowd = bed.use(new Crowd(all, RESOURCES));
    await crowd.goesOn(10);
    await servers.primary.kill();
    await servers.promoted(servers.primary);
    await crowd.goesOn(10);
    await crowd.expectOrder();
  });

  inBed('a lease that its replicas know goes on', async (bed) => {
    const servers = await sentinels(bed);
    const [holder, others] = openers(bed, servers);
    const terms = { holder: holder!, others: others!, ttl: LONG_TTL_MS };
    const scene = await Scene.set(bed, { ...terms, options: { maxTtl: LONG_TTL_MS } });
    await servers.inStep();
    const early = promotions(servers);
    await servers.primary.kill();
    // Longer than a TTL: without heartbeats to the next primary it would be dead.
    await sleep(LONG_TTL_MS * 1.2);
    // On a busy machine Sentinels may promote once more, past what was written in between.
    if (early === 0 && promotions(servers) === 1) await scene.expectUndisturbed(0);
    else if (scene.reasons.some(Boolean)) await scene.expectSucceeded();
  });
});

function promotions({ sentinels: [sentinel] }: Sentinels): number {
  return sentinel?.log.match(/\+switch-master/g)?.length ?? 0;
}

/**
 * Nothing fails in a planned fail-over, and the old primary is alive. Until a Sentinel makes a
 * replica of it, ten seconds later, it grants as before. Nothing overlaps all the same:
 * - The new one grants nothing for 30 s, by the default `maxTtl`. By then the old one is a replica,
 *   and all that it granted is over: what the new one has not, it ends at the next heartbeat.
 * - A lease from before goes on at the new one, and the old one takes it for dead a ttl after its
 *   last heartbeat there. Then it grants the lock to whoever is left. So all leave it within two
 *   thirds of a ttl, which is when a holder that went first may be dead there. They hear of the
 *   fail-over from Sentinels, within a second of each other; the connection ends at once, also one
 *   on its way; what was under way on it is unknown, and is asked again of the new one.
 * - Tokens grow: whoever waits at the new one stood behind all whom the old one let in meanwhile.
 * Node-redis listens to one Sentinel alone, the first. The one that leads the fail-over says so
 * last, seconds later; here the others lead.
 *
 * One process keeps a lock until the old primary has stopped, so that a process that stayed there
 * would get it: they are of both packages by turns, and if those of one hear nothing, they overlap
 * with what the other keeps. A second lock goes from hand to hand, also in the last moments of the
 * old primary, of which the new one knows nothing.
 */
describe('a planned fail-over', () => {
  const LOCKS = ['kept', 'passed'];
  const PROCESSES = 6;

  /**
   * Two thirds are longer than the second in which all hear of it, and the whole is shorter than
   * the ten seconds for which the old primary goes on. At most the default of `maxTtl`.
   */
  const PLANNED_TTL_MS = Math.min(paced(6000), 10_000);

  function taker({ sentinels, name }: Sentinels, client: ClientName): Child {
    const places = sentinels.map(({ host, port }) => ({ host, port }));
    const terms = { resources: LOCKS, ttl: PLANNED_TTL_MS };
    const options: TakerOptions = { client, sentinels: places, group: name, ...terms };
    return new Child('taker', options);
  }

  /** Each process has had each lock since: the first hold that it tells of may be from before. */
  async function allGetOn(all: readonly Child[]): Promise<void> {
    const second = (child: Child, name: string) => child.next(name, child.heard(name).length + 1);
    await Promise.all(all.flatMap((child) => LOCKS.map((name) => second(child, name))));
  }

  interface Plan {
    readonly primary: RedisServer;
    readonly leader: RedisServer;
    readonly keeper: Child;
  }

  /** Ends when the old primary has stopped, and answers the new one. */
  async function failOver(servers: Sentinels, plan: Plan): Promise<RedisServer> {
    const { primary, leader, keeper } = plan;
    const replicas = [servers.primary, ...servers.replicas].filter((each) => each !== primary);
    keeper.tell({ keep: 'kept' } satisfies Keep);
    await keeper.next('keeps');
    const before = keeper.heard('kept').length;
    // The next primary knows the lease, whichever it is.
    await follow(primary, replicas);
    await until('was it ordered', async () => {
      return (await leader.command('SENTINEL', 'FAILOVER', servers.name)) === 'OK';
    });
    const next = await servers.promoted(primary);
    await until('was the old one stopped', async () => {
      const [role] = (await primary.command('ROLE')) as unknown[];
      return role === 'slave';
    });
    const stoppedAt = machineMs();
    keeper.tell({} satisfies Keep);
    const { hold } = await keeper.next<Took>('kept', before);
    // Without it, those who stayed overlap with nothing.
    if (hold.endedAt < stoppedAt) throw new TooLate('was the lock kept until then');
    return next;
  }

  // Not beside others, for children belong to whichever test began last.
  test('again and again: nothing overlaps, tokens grow, and all get on', async () => {
    await using bed = new Bed();
    // Nobody is down, and no busy machine makes it look so.
    const servers = bed.serve(await startSentinels({ downAfterMs: paced(10_000) }));
    await bed.settle(servers.primary);
    const [, ...leaders] = servers.sentinels;
    const all = Array.from({ length: PROCESSES }, (_, i) =>
      taker(servers, i % 2 === 0 ? 'ioredis' : 'node-redis'),
    );
    let { primary } = servers;
    await allGetOn(all);
    for (const [i, keeper] of all.slice(0, WHOLE ? 3 : 2).entries()) {
      const leader = leaders[i % leaders.length]!;
      primary = await failOver(servers, { primary, leader, keeper });
      await allGetOn(all);
    }
    const took = LOCKS.flatMap((name) => all.flatMap((child) => child.heard<Took>(name)));
    expect(disorderOf(took.map(({ hold }) => hold))).toEqual([]);
  });
});
