/** What happens to a few resources, drawn from a seed. */
import { type Kind, MAX_PERMITS } from '../../../src/contract/store.ts';
import type { Chance } from '../simulation/chance.ts';

/** Lives and pauses are counted in these, so that no slowness of the machine is taken for one. */
export const UNIT_MS = 10_000;
export const MAX_TTL_MS: number = 6 * UNIT_MS;
export const RESOURCES = 3;

export interface Terms {
  readonly resource: number;
  readonly kind: Kind;
  readonly permits: number;
  readonly limit: number;
  readonly ttlMs: number;
  readonly queue: boolean;
}

/** `which` are numbers of claims, `at` a place in a queue, `by` one of two processes. */
export type Step = { readonly by: number } & (
  | { readonly verb: 'enter' | 'claimAll'; readonly terms: readonly Terms[] }
  | { readonly verb: 'again' | 'renew' | 'raise'; readonly which: readonly number[] }
  | { readonly verb: 'downgrade'; readonly which: readonly [number] }
  | {
      readonly verb: 'release';
      readonly which: readonly number[];
      readonly afterMs: number;
      readonly unanswered: boolean;
    }
  | {
      readonly verb: 'handOver';
      readonly which: readonly [number];
      /** A new claim takes what was given last; else the claim gives what it holds. */
      readonly takes: boolean;
    }
  | {
      readonly verb: 'evict';
      readonly resource: number;
      readonly at: number;
      readonly now: boolean;
      readonly waiting: boolean;
    }
  | {
      readonly verb: 'keep';
      readonly which: readonly [number];
      readonly text: string;
      readonly ms: number;
    }
  | { readonly verb: 'inspect' | 'recall'; readonly resource: number }
);

/** Resource 0 is mostly a mutex, 1 a read-write lock, 2 a semaphore: and sometimes a mismatch. */
const KINDS: readonly (readonly Kind[])[] = [
  ['mutex', 'mutex', 'mutex', 'mutex', 'mutex', 'permits'],
  ['read', 'read', 'read', 'write', 'write', 'mutex'],
  ['permits', 'permits', 'permits', 'permits', 'permits', 'read'],
];

const READERS = MAX_PERMITS;

/** One of so many claims gives what it holds, mostly one that came lately; or a new one takes. */
export function passing(chance: Chance, claims: number): Step {
  const which = [chance.between(Math.max(0, claims - 8), claims - 1)] as const;
  return { by: chance.below(2), verb: 'handOver', which, takes: chance.share(0.5) };
}

export class Steps {
  readonly #chance: Chance;
  /** Semaphores have up to so many seats; where it is one, all agree about it. */
  readonly #seats: number;
  /** Share of the resources that are used at all, so that some are crowded. */
  readonly #resources: number;
  /** Some claims are tries of several resources in one step, and some evictions of waiters only. */
  readonly #together: boolean;

  constructor(chance: Chance, together: boolean) {
    this.#chance = chance;
    this.#together = together;
    this.#seats = chance.one([1, 3, 4, 30]);
    this.#resources = chance.between(1, RESOURCES);
  }

  /** The next one, when so many claims have been made. */
  next(claims: number): Step {
    const chance = this.#chance;
    const by = chance.below(2);
    const which = claims === 0 ? [] : this.#some(claims);
    const [one] = which;
    const draw = one === undefined ? 0 : chance.below(100);
    if (this.#together && draw < 5) return { by, verb: 'claimAll', terms: this.#tries() };
    if (one === undefined || draw < 32) return { by, verb: 'enter', terms: this.#terms() };
    if (draw < 40) return { by, verb: 'again', which };
    if (draw < 55) return { by, verb: 'renew', which };
    if (draw < 58) return { by, verb: 'raise', which };
    if (draw < 62) return { by, verb: 'downgrade', which: [one] };
    if (draw < 67) {
      const ms = chance.between(0, 6) * UNIT_MS;
      return { by, verb: 'keep', which: [one], text: `${chance.below(1000)}`, ms };
    }
    if (draw < 90) {
      const afterMs = chance.one([0, 0, 0, 0, UNIT_MS, 2 * UNIT_MS]);
      return { by, verb: 'release', which, afterMs, unanswered: chance.share(0.2) };
    }
    const resource = this.#resource();
    if (draw < 94) return { by, verb: 'inspect', resource };
    if (draw < 97) return { by, verb: 'recall', resource };
    const [at, now] = [chance.below(5), chance.share(0.5)];
    return { by, verb: 'evict', resource, at, now, waiting: this.#together && by === 1 && !now };
  }

  /** Mostly those who came lately, each once. */
  #some(claims: number): number[] {
    const chance = this.#chance;
    const first = chance.share(0.5) ? Math.max(0, claims - 8) : 0;
    const length = chance.one([1, 1, 1, 2, 4]);
    return [...new Set(Array.from({ length }, () => chance.between(first, claims - 1)))];
  }

  #terms(): Terms[] {
    return Array.from({ length: this.#chance.one([1, 1, 1, 2, 3, 8]) }, () => this.#claim());
  }

  /** Of some resources, each once. */
  #tries(): Terms[] {
    const first = this.#chance.below(this.#resources);
    const length = this.#resources - first;
    const claims = Array.from({ length }, (_, i) => this.#claim(first + i));
    return claims.map((claim) => ({ ...claim, queue: false }));
  }

  #claim(resource: number = this.#resource()): Terms {
    const chance = this.#chance;
    const kind = chance.one(KINDS[resource] ?? []);
    const ttlMs = chance.between(1, MAX_TTL_MS / UNIT_MS) * UNIT_MS;
    const rest = { resource, kind, ttlMs, queue: chance.share(0.8) };
    if (kind === 'mutex') return { ...rest, permits: 1, limit: 1 };
    if (kind === 'read') return { ...rest, permits: 1, limit: READERS };
    if (kind === 'write') return { ...rest, permits: READERS, limit: READERS };
    const limit = this.#seats === 3 ? 3 : chance.between(1, this.#seats);
    return { ...rest, permits: chance.between(1, Math.min(limit, 3)), limit };
  }

  #resource(): number {
    return this.#chance.below(this.#resources);
  }
}
