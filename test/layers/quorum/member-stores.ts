import type { Store } from 'holdfast';
import { memoryStore } from 'holdfast/memory';
import { quorum } from 'holdfast/quorum';
import type { Claim, ClaimStatus } from 'holdfast/store';
import { aroundStore, type Verb } from 'holdfast/testkit';
import { FakeClock } from '../../support/fake-clock.ts';

/** What a member does instead of answering. */
export type Fault = 'silent' | 'broken' | 'deaf';

/** A memory that can be made silent (it works, and never answers), broken (an error), or deaf. */
export interface Member extends Store {
  fault: Fault | undefined;
  readonly memory: ReturnType<typeof memoryStore>;
  /** What was asked of it, in order. */
  readonly asked: { readonly verb: Verb; readonly claims: readonly Claim[] }[];
}

export interface Scene {
  readonly clock: FakeClock;
  readonly members: readonly Member[];
  readonly store: Store;
}

export function scene(count = 3, quarantine = 1_000): Scene {
  const clock = new FakeClock();
  const members = Array.from({ length: count }, () => member(clock, quarantine));
  return { clock, members, store: quorum(members, { clock }) };
}

function member(clock: FakeClock, quarantine: number): Member {
  const memory = memoryStore({ clock, quarantine });
  const asked: Member['asked'] = [];
  const far = aroundStore(
    memory,
    async ({ verb, claims }, next) => {
      asked.push({ verb, claims });
      if (made.fault === 'broken') throw new Error('The connection broke.');
      if (made.fault === 'deaf') return new Promise(() => {});
      const answer = await next();
      return made.fault === 'silent' ? new Promise(() => {}) : answer;
    },
    { ...memory.traits, synchronous: false },
  );
  const made: Member = Object.assign(far, { fault: undefined, memory, asked });
  return made;
}

let made = 0;

export function claimOf(over: Partial<Claim> = {}): Claim {
  return {
    ...{ resource: 'resource', kind: 'mutex', permits: 1, limit: 1, ttlMs: 10_000, queue: true },
    id: (++made).toString(16).padStart(32, '0'),
    holder: { host: 'test', pid: 1, label: `claim ${made}`, since: 0 },
    ...over,
  };
}

/** The answer, however long the clock has to go on for it. */
export async function within<T>(clock: FakeClock, ms: number, answer: Promise<T>): Promise<T> {
  await clock.advance(ms);
  return answer;
}

export async function enter(store: Store, claim: Claim): Promise<ClaimStatus> {
  return (await store.claim([claim]))[0] as ClaimStatus;
}

export async function beat(store: Store, claim: Claim): Promise<ClaimStatus> {
  return (await store.renew([claim]))[0] as ClaimStatus;
}
