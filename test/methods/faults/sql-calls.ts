/** A program that asks a store in a database, and shows its replies as lines. */
import { StoreError } from 'holdfast';
import type { Claim, ClaimStatus, Store } from 'holdfast/store';
import { expect } from 'vitest';
import { lineOf } from '../../../src/stores/status-lines.ts';
import { until } from '../../support/until.ts';
import { Chance } from '../simulation/chance.ts';
import { claimOf } from './bed.ts';

export type Settings = { readonly maxTtl: number; readonly trust: boolean };

const SETTINGS: Settings = { maxTtl: 30_000, trust: false };

/** A claim that lives as long as programs may ask for. */
export function asked(resource: string, over: Partial<Claim> = {}): Claim {
  return claimOf(resource, { ttlMs: SETTINGS.maxTtl, ...over });
}

export class Caller {
  readonly #open: (settings: Settings) => Store;
  readonly #stores = new Map<string, Store>();

  /** With what opens a store, one for all calls with the same settings. */
  constructor(open: (settings: Settings) => Store) {
    this.#open = open;
  }

  async claim(claims: readonly Claim[], settings: Partial<Settings> = {}): Promise<string[]> {
    const store = await this.store(settings);
    return (await sent(() => store.claim(claims))).map(lineIn);
  }

  async renew(claims: readonly Claim[], settings: Partial<Settings> = {}): Promise<string[]> {
    const store = await this.store(settings);
    return (await sent(() => store.renew(claims))).map(lineIn);
  }

  async release(claims: readonly Claim[], settings: Partial<Settings> = {}): Promise<string[]> {
    const store = await this.store(settings);
    const left = await sent(() => store.release(claims));
    return left.map((was) => (was ? '1' : '0'));
  }

  /** A machine that is busy may not connect in time. */
  async store(settings: Partial<Settings> = {}): Promise<Store> {
    const all = { ...SETTINGS, ...settings };
    const key = JSON.stringify(all);
    const known = this.#stores.get(key);
    if (known) return known;
    const store = this.#open(all);
    this.#stores.set(key, store);
    await until('connected', () => store.inspect('nothing').then(Boolean, () => false));
    return store;
  }

  async close(): Promise<void> {
    for (const store of this.#stores.values()) await store.close?.();
  }
}

/** What could not be sent in time is sent again: the server may have just begun. */
export async function sent<T>(ask: () => Promise<T>, tries = 5): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    const nothingCame =
      error instanceof StoreError && error.retryable && error.outcome === 'failed';
    if (!nothingCame || tries === 1) throw error;
    return sent(ask, tries - 1);
  }
}

function lineIn(status: ClaimStatus): string {
  if (status.state === 'gone') return `g ${status.why} ${status.detail ?? ''}`;
  if (status.state === 'error') throw status.error;
  return lineOf(status);
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

/** Sessions with batches that overlap never meet in a deadlock, and hold one after the other. */
export async function expectCalmStorm(
  open: () => Promise<Caller>,
  sweep: () => Promise<void>,
): Promise<void> {
  const holders = new Map<string, number>();
  const last = new Map<string, bigint>();
  const trouble: unknown[] = [];
  const complain = (error: Error): string[] => {
    trouble.push(error.message);
    return [];
  };
  const storm = async (seed: number): Promise<void> => {
    const chance = new Chance(seed);
    const session = await open();
    const see = (line: string, { resource }: Claim): void => {
      if (!line.startsWith('h ')) return;
      const number = numberOf(line);
      if (holders.has(resource)) trouble.push(`${resource} is held twice`);
      if (number <= (last.get(resource) ?? 0n)) trouble.push(`${resource}: a number regressed`);
      holders.set(resource, seed);
      last.set(resource, number);
    };
    for (let round = 0; round < ROUNDS; round++) {
      const resources = ['a', 'b', 'c', 'd', 'e'].filter(() => chance.share(0.6));
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
      if (round % 10 === 0) await sweep().catch(complain);
    }
  };
  await Promise.all(Array.from({ length: SESSIONS }, (_, seed) => storm(seed)));
  expect(trouble).toEqual([]);
}
