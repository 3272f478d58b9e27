/**
 * A few processes, each with a clock of its own, and a service behind a network that loses, delays
 * and repeats: who held the lock, and when, by the time of the world.
 */
import type { Clock } from 'holdfast';
import { type Documents, documentStore } from 'holdfast/document';
import type { ClaimStatus } from 'holdfast/store';
import { simulatedClock } from 'holdfast/testkit';
import { claimOf } from '../../methods/faults/bed.ts';
import { Chance } from '../../methods/simulation/chance.ts';
import { Shelf } from './shelf.ts';

export interface WorldOptions {
  readonly seed: number;
  /** What the service says about its times, in ms; undefined: it tells none. */
  readonly slackMs: number | undefined;
  /** How far its times are apart in truth; default: as far as it says. */
  readonly apartMs?: number;
  /** Clocks run at rates that differ by so much at most; default just below 1 %. */
  readonly drift?: number;
}

export type Hold = { readonly from: number; readonly to: number; readonly token: bigint };

const TTL_MS = 300;
const ENDS_MS = 12_000;
const PROCESSES = 3;

/** The holds of a world, in order of their beginning. */
export async function holdsIn(options: WorldOptions): Promise<readonly Hold[]> {
  const { seed, slackMs, apartMs = slackMs ?? 0, drift = 0.009 } = options;
  const chance = new Chance(seed);
  const world = simulatedClock(seed);
  const shelf = new Shelf({ clock: world });
  const holds: Hold[] = [];
  const told = (): { nowMs?: number } =>
    slackMs === undefined ? {} : { nowMs: 1e12 + world.now() + chance.next() * apartMs };
  const processes = Array.from({ length: PROCESSES }, (_, i) => {
    const rate = 1 + (i / (PROCESSES - 1)) * drift;
    const clock = skewed(world, { rate, offset: i * 1e6 });
    const documents: Documents = {
      name: 'far',
      ...(slackMs !== undefined && { slackMs }),
      async get(key) {
        await travel(world, chance);
        const reply = { ...shelf.get(key), ...told() };
        await travel(world, chance);
        return reply;
      },
      async put(key, text, onto) {
        await travel(world, chance);
        const write = (): ReturnType<Shelf['put']> => shelf.put(key, text, onto);
        const draw = chance.below(100);
        if (draw < 5) world.setTimeout(() => void write(), chance.below(900));
        if (draw < 8) throw new Error('lost on its way');
        const reply = write();
        const late = told();
        await travel(world, chance);
        if (draw < 16) throw new Error('the reply was lost');
        return reply === 'other' ? reply : { ...reply, ...late };
      },
    };
    return live({ documents, clock, world, chance, rate, holds });
  });
  await Promise.all(processes);
  world.stop();
  return holds.sort((a, b) => a.from - b.from);
}

interface Living {
  readonly documents: Documents;
  readonly clock: Clock;
  readonly world: ReturnType<typeof simulatedClock>;
  readonly chance: Chance;
  readonly rate: number;
  readonly holds: Hold[];
}

/** Claims, renews, and leaves or falls silent, again and again. */
async function live({ documents, clock, world, chance, rate, holds }: Living): Promise<void> {
  const store = documentStore(documents, { clock });
  while (world.now() < ENDS_MS) {
    const claim = claimOf('r', { id: `${chance.next()}`.slice(2), ttlMs: TTL_MS });
    let held: { readonly since: number; readonly token: bigint } | undefined;
    let deadline = 0;
    const ask = async (verb: 'claim' | 'renew'): Promise<ClaimStatus | undefined> => {
      const sent = clock.now();
      const [status] = await store[verb]([claim]);
      if (status?.state === 'held') deadline = Math.max(deadline, sent + status.leftMs);
      return status;
    };
    const end = (): number => world.now() + (deadline - clock.now()) / rate;
    let status = await ask('claim');
    for (let beats = chance.below(8); beats > 0; beats--) {
      const over = held !== undefined && clock.now() >= deadline;
      if (over || status?.state === 'gone') break;
      if (status?.state === 'held') held ??= { since: world.now(), token: status.token };
      await world.sleep(chance.between(10, TTL_MS / 3));
      status = await ask('renew');
    }
    const to = end();
    if (held && held.since < to) {
      const silent = chance.share(0.3);
      const until = silent ? to : Math.min(to, world.now());
      holds.push({ from: held.since, to: until, token: held.token });
      if (silent) await world.sleep(2 * TTL_MS);
    }
    await store.release([{ ...claim, unanswered: true }]).catch(() => {});
    await world.sleep(chance.below(100));
  }
  await store.close?.();
}

function travel(world: ReturnType<typeof simulatedClock>, chance: Chance): Promise<void> {
  return world.sleep(chance.share(0.03) ? chance.below(400) : chance.below(15));
}

function skewed(world: Clock, { rate, offset }: { rate: number; offset: number }): Clock {
  return {
    ...world,
    now: () => world.now() * rate + offset,
    setTimeout: (run, ms) => world.setTimeout(run, ms / rate),
  };
}
