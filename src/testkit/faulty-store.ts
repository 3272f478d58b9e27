/**
 * A store behind a bad network: requests and answers are lost, come late, or end in an error.
 * The store itself is real and works; only the way to it does not.
 */
import type { Clock } from '../clock.ts';
import type { StoreError } from '../errors.ts';
import type { Claim, Store } from '../store.ts';
import { aroundStore, type Verb } from './around-store.ts';

export interface Fault {
  readonly verb: Verb;
  /** Whether the request reaches the store: at once, so many ms late, or never. Default at once. */
  readonly arrives?: 'never' | { readonly lateMs: number };
  /** What the caller gets: nothing at all, an error, or the answer so many ms late. */
  readonly answer: 'never' | StoreError | { readonly lateMs: number };
  /** How often; default until healed. */
  readonly times?: number;
  /** Only requests with such a claim among theirs; default all. */
  readonly only?: (claim: Claim) => boolean;
}

export interface FaultyStore extends Store {
  /** Returns the way to heal it. */
  inject(fault: Fault): () => void;
}

/** @param clock what lateness is measured by. */
export function faultyStore(store: Store, clock: Clock): FaultyStore {
  const faults = new Map<Fault, number>();
  const sleep = (ms: number): Promise<void> =>
    new Promise((resolve) => {
      clock.setTimeout(resolve, ms);
    });

  function strike(verb: Verb, claims: readonly Claim[]): Fault | undefined {
    for (const [fault, left] of faults) {
      if (fault.verb !== verb || (fault.only && !claims.some(fault.only))) continue;
      if (left <= 1) faults.delete(fault);
      else faults.set(fault, left - 1);
      return fault;
    }
    return undefined;
  }

  async function suffer<T>(fault: Fault, next: () => Promise<T>): Promise<T> {
    const { arrives, answer } = fault;
    const reply = arrives === 'never' ? undefined : sleep(arrives?.lateMs ?? 0).then(next);
    if (answer === 'never') return new Promise(() => {});
    if (answer instanceof Error || !reply) {
      await reply;
      throw answer;
    }
    const value = await reply;
    await sleep(answer.lateMs);
    return value;
  }

  // What may be lost on the way cannot be had without yielding.
  const traits = { ...store.traits, synchronous: false };
  const faulty = aroundStore(
    store,
    ({ verb, claims }, next) => {
      const fault = strike(verb, claims);
      return fault ? suffer(fault, next) : next();
    },
    traits,
  );
  return Object.assign(faulty, {
    inject(fault: Fault) {
      faults.set(fault, fault.times ?? Number.POSITIVE_INFINITY);
      return () => void faults.delete(fault);
    },
  });
}
