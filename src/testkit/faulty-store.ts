/**
 * A store behind a bad network, as a test scripts it: requests and replies are lost, come late or
 * twice, or end in an error. The store itself is real and works; only the network fails.
 */
import type { Clock } from '../base/clock.ts';
import type { Claim, Store } from '../contract/store.ts';
import { aroundStore, type Verb } from './around-store.ts';
import { type Journey, undergo } from './journey.ts';

export interface Fault extends Journey {
  readonly verb: Verb;
  /** How often; default until healed. */
  readonly times?: number;
  /** Only requests with at least one such claim; default all. */
  readonly only?: (claim: Claim) => boolean;
}

export interface FaultyStore extends Store {
  /** Returns a function that heals it. */
  inject(fault: Fault): () => void;
}

/**
 * A store whose connection can be broken, request by request.
 * @param clock measures lateness.
 *
 * @example
 * import { systemClock } from 'holdfast';
 * import { memoryStore } from 'holdfast/memory';
 * import { faultyStore } from 'holdfast/testkit';
 *
 * const store = faultyStore(memoryStore(), systemClock());
 * const heal = store.inject({ verb: 'renew', answer: 'never' });
 * heal();
 *
 * @experimental
 */
export function faultyStore(store: Store, clock: Clock): FaultyStore {
  const faults = new Map<Fault, number>();

  function strike(verb: Verb, claims: readonly Claim[]): Fault | undefined {
    for (const [fault, left] of faults) {
      if (fault.verb !== verb || (fault.only && !claims.some(fault.only))) continue;
      if (left <= 1) faults.delete(fault);
      else faults.set(fault, left - 1);
      return fault;
    }
    return undefined;
  }

  // A request that may be late or lost yields, and needs a time-out.
  const traits = { ...store.traits, synchronous: false };
  const faulty = aroundStore(
    store,
    ({ verb, claims }, next) => {
      const fault = strike(verb, claims);
      return fault ? undergo(clock, fault, { next, pick: (first) => first }) : next();
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
