/** The routines of the SQL stores, called as a program of somebody else's would. */
import { randomBytes } from 'node:crypto';
import { expect } from 'vitest';
import { Chance } from '../simulation/chance.ts';

export interface Settings {
  readonly maxTtl: number;
  readonly maxWaiters: number;
  readonly trust: boolean;
  readonly fast: boolean;
  readonly patience: number;
  readonly wake: string;
}

export const SETTINGS: Settings = {
  ...{ maxTtl: 30_000, maxWaiters: 100, trust: false, fast: false, patience: 5000 },
  wake: 'holdfast_',
};

export interface Asked {
  readonly resource: string;
  readonly id: string;
  readonly ttl: number;
  readonly queue: boolean;
  readonly kind: 'm' | 'r' | 'w' | 'p';
  readonly permits: number;
  readonly limit: number;
}

export function asked(resource: string, over: Partial<Asked> = {}): Asked {
  const id = randomBytes(16).toString('hex');
  const mutex = { kind: 'm', permits: 1, limit: 1 } as const;
  return { resource, id, ttl: 30_000, queue: true, ...mutex, ...over };
}

/** What a release may say besides. */
interface Leaving extends Asked {
  readonly unanswered?: boolean;
  readonly after?: number;
}

export type Verb = 'claim' | 'renew' | 'release';

/** One session. */
export abstract class Caller {
  claim(claims: readonly Asked[], settings: Partial<Settings> = {}): Promise<string[]> {
    return this.#call('claim', { address: '-', tag: '-', holder: '{}' }, claims, settings);
  }

  renew(claims: readonly Asked[], settings: Partial<Settings> = {}): Promise<string[]> {
    return this.#call('renew', {}, claims, settings);
  }

  release(claims: readonly Leaving[], settings: Partial<Settings> = {}): Promise<string[]> {
    return this.#call('release', { unanswered: false, after: 0 }, claims, settings);
  }

  abstract sweep(): Promise<unknown>;

  abstract close(): Promise<unknown>;

  /** The lines of its answer. */
  protected abstract call(routine: Verb, args: readonly string[]): Promise<string[]>;

  /** What is busy is asked about again, alone, as a store does. */
  async #call(
    routine: Verb,
    terms: object,
    ...[claims, settings]: readonly [readonly Asked[], Partial<Settings>]
  ): Promise<string[]> {
    const all = claims.map((each) => ({ ...terms, ...each }));
    const how = JSON.stringify({ ...SETTINGS, ...settings });
    const lines = await this.call(routine, [how, JSON.stringify(all)]);
    const busy = lines.filter((line) => line.startsWith('b ')).map((line) => Number(line.slice(2)));
    const rest = lines.slice(busy.length);
    for (const place of busy.sort((a, b) => a - b)) {
      const again = await this.call(routine, [how, JSON.stringify([all[place]])]);
      rest.splice(place, 0, ...again);
    }
    return rest;
  }
}

/** The code or number with which the server refuses it. */
export async function refusal(asking: Promise<unknown>): Promise<unknown> {
  return asking.then(
    () => 'nothing',
    (error: { code?: string; errno?: number }) => error.errno ?? error.code,
  );
}

export function numberOf(line: string | undefined): bigint {
  const [state, number = ''] = line?.split(' ') ?? [];
  if (state !== 'h') throw new Error(`not held: ${line}`);
  return BigInt(number);
}

const SESSIONS = 16;
const ROUNDS = 40;

/** Thousands of calls take long on a busy machine. */
export const CALM: { readonly timeout: number } = { timeout: 120_000 };

/** Sessions with batches that overlap never meet in a deadlock, and hold one after the other. */
export async function expectCalmStorm(open: (seed: number) => Promise<Caller>): Promise<void> {
  const holders = new Map<string, number>();
  const last = new Map<string, bigint>();
  const trouble: unknown[] = [];
  const complain = (error: Error): string[] => {
    trouble.push(error.message);
    return [];
  };
  const storm = async (seed: number): Promise<void> => {
    const chance = new Chance(seed);
    const session = await open(seed);
    const see = (line: string, { resource }: Asked): void => {
      if (!line.startsWith('h ')) return;
      const number = numberOf(line);
      if (holders.has(resource)) trouble.push(`${resource} is held twice`);
      if (number <= (last.get(resource) ?? 0n)) trouble.push(`${resource}: a number regressed`);
      holders.set(resource, seed);
      last.set(resource, number);
    };
    for (let round = 0; round < ROUNDS; round++) {
      const resources = ['a', 'b', 'c', 'd', 'e'].filter(() => chance.share(0.6));
      // In any order: the routines have one of their own.
      const claims = resources
        .sort(() => chance.below(2) - 0.5)
        .map((name) => asked(`storm ${name}`, { queue: chance.share(0.3) }));
      if (claims.length === 0) continue;
      const lines = await session.claim(claims).catch(complain);
      lines.forEach((line, i) => {
        see(line, claims[i]!);
      });
      await session.renew(claims).catch(complain);
      for (const { resource } of claims) {
        if (holders.get(resource) === seed) holders.delete(resource);
      }
      // Some of those who wait are admitted by a release of others, and leave at once.
      const unanswered = chance.share(0.2);
      await session.release(claims.map((each) => ({ ...each, unanswered }))).catch(complain);
      if (round % 10 === 0) await session.sweep();
    }
  };
  await Promise.all(Array.from({ length: SESSIONS }, (_, seed) => storm(seed)));
  expect(trouble).toEqual([]);
}
