/**
 * The same verbs on the SQLite store and on the memory store, which is the reference: same answers,
 * same hints. Both count by one clock, which stands still except where the sequence says so.
 */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { systemClock } from '../../../src/base/clock.ts';
import { thisMachine } from '../../../src/clients/sqlite/machine.ts';
import type { Claim, ClaimStatus, Kind, Store } from '../../../src/contract/store.ts';
import { memoryStore } from '../../../src/stores/memory/index.ts';
import { cases } from '../../support/cases.ts';
import { claimOf, newFile, open } from './bed.ts';

interface Entering {
  readonly resource: number;
  readonly kind: Kind;
  readonly permits: number;
  readonly limit: number;
  readonly ttlMs: number;
  readonly queue: boolean;
}

/** `which` and `resource` count modulo what there is. */
type Step =
  | { readonly verb: 'enter'; readonly claims: readonly Entering[] }
  | { readonly verb: 'again' | 'renew'; readonly which: readonly number[] }
  | { readonly verb: 'downgrade' | 'doubt'; readonly which: number }
  | { readonly verb: 'release'; readonly which: readonly number[]; readonly afterMs: number }
  | {
      readonly verb: 'evict';
      readonly resource: number;
      readonly at: number;
      readonly now: boolean;
    }
  | {
      readonly verb: 'keep';
      readonly which: number;
      readonly text: string;
      readonly ms: number;
    }
  | { readonly verb: 'inspect' | 'recall'; readonly resource: number }
  | { readonly verb: 'pass'; readonly ms: number };

const RESOURCES = 3;

/** Resource 0 is mostly a mutex, 1 a read-write lock, 2 a semaphore: and sometimes a mismatch. */
const KINDS: readonly (readonly Kind[])[] = [
  ['mutex', 'mutex', 'mutex', 'permits'],
  ['read', 'read', 'write', 'mutex'],
  ['permits', 'permits', 'permits', 'read'],
];

const place = fc.nat(30);
const places = fc.array(place, { minLength: 1, maxLength: 4 });
const resource = fc.nat(RESOURCES - 1);

const entering: fc.Arbitrary<Entering> = fc
  .record({
    resource,
    kind: fc.nat(3),
    permits: fc.integer({ min: 1, max: 2 }),
    limit: fc.integer({ min: 2, max: 4 }),
    ttlMs: fc.integer({ min: 5, max: 60 }),
    queue: fc.boolean(),
  })
  .map(({ kind: choice, permits, limit, ...rest }) => {
    const kind = KINDS[rest.resource]?.[choice] ?? 'mutex';
    if (kind === 'mutex') return { ...rest, kind, permits: 1, limit: 1 };
    if (kind === 'permits') return { ...rest, kind, permits, limit };
    return { ...rest, kind, permits: kind === 'read' ? 1 : 8, limit: 8 };
  });

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      verb: fc.constant('enter' as const),
      claims: fc.array(entering, { minLength: 1, maxLength: 4 }),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      verb: fc.constantFrom('again' as const, 'renew' as const),
      which: places,
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      verb: fc.constantFrom('downgrade' as const, 'doubt' as const),
      which: place,
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      verb: fc.constant('release' as const),
      which: places,
      afterMs: fc.constantFrom(0, 0, 0, 15),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      verb: fc.constant('evict' as const),
      resource,
      at: fc.nat(3),
      now: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      verb: fc.constant('keep' as const),
      which: place,
      text: fc.string({ unit: 'binary' }),
      ms: fc.constantFrom(0, 10, 40, 100),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      verb: fc.constantFrom('inspect' as const, 'recall' as const),
      resource,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      verb: fc.constant('pass' as const),
      ms: fc.integer({ min: 1, max: 40 }),
    }),
  },
);

/** One store under test, and what it has said so far. */
class Side {
  readonly store: Store;
  /** Tokens are the store's own, so they are compared by whose they are. */
  readonly #owners = new Map<string, string>();
  /** When claims die at the earliest, by id, as far as it was said. */
  readonly #deaths = new Map<string, number>();
  readonly #watching = new Map<string, AsyncDisposable>();
  readonly #now: () => number;
  hints: string[] = [];

  constructor(store: Store, now: () => number) {
    this.store = store;
    this.#now = now;
  }

  async watch(claim: Claim): Promise<void> {
    const watching = await this.store.watch?.(claim, (hint) =>
      this.hints.push(
        `${claim.holder.label} ${hint && hint.state !== 'gone' ? hint.state : 'ask'}`,
      ),
    );
    if (watching) this.#watching.set(claim.id, watching);
  }

  status(claim: Claim, status: ClaimStatus): unknown {
    if (status.state === 'error') throw status.error;
    if (status.state === 'gone') return [status.why, status.detail];
    this.#deaths.set(claim.id, this.#now() + Math.round(status.leftMs));
    const limit = status.limit ?? 'own';
    if (status.state === 'waiting') {
      // `ahead` and `retryInMs` are estimates: a store may or may not count dead waiters far back.
      return ['waiting', status.why, round(status.leftMs), limit];
    }
    this.#owners.set(`${claim.resource} ${status.token}`, claim.holder.label ?? '');
    const { takeover } = status;
    const took = takeover && [
      takeover.reason,
      this.#owners.get(`${claim.resource} ${takeover.token}`),
    ];
    return ['held', round(status.leftMs), status.waiters > 0, took, limit];
  }

  async run(
    step: Step,
    claims: readonly Claim[],
    name: (resource: number) => string,
  ): Promise<unknown> {
    const chosen = (which: readonly number[]): Claim[] =>
      claims.length === 0 ? [] : which.map((i) => claims[i % claims.length] as Claim);
    const { store } = this;
    switch (step.verb) {
      case 'enter':
        return this.#all(claims.slice(-step.claims.length), (batch) => store.claim(batch));
      case 'again':
        return this.#all(chosen(step.which).filter(this.#mayRepeat), (batch) => store.claim(batch));
      case 'renew':
        return this.#all(chosen(step.which), (batch) => store.renew(batch));
      case 'release':
        return this.#release(chosen(step.which), step.afterMs);
      case 'doubt':
        return this.#release(
          chosen([step.which]).map((claim) => ({ ...claim, unanswered: true })),
          0,
        );
      case 'downgrade': {
        const [claim] = chosen([step.which]);
        return claim && this.status(claim, (await store.downgrade?.(claim)) as ClaimStatus);
      }
      case 'keep': {
        const [claim] = chosen([step.which]);
        if (!claim) return undefined;
        const kept = await store.keep?.(claim, step);
        // A record may be kept beside a claim that has died, which a heartbeat removes.
        return [kept, await this.#all([claim], (batch) => store.renew(batch))];
      }
      case 'recall': {
        const kept = await store.recall?.(name(step.resource));
        return kept && [kept.text, round(kept.leftMs)];
      }
      case 'inspect':
        return this.#look(name(step.resource));
      case 'evict': {
        const { holders, waiters } = await store.inspect(name(step.resource));
        const member = [...holders, ...waiters][step.at];
        if (!member) return 'nobody';
        return store.evict?.(name(step.resource), member.number, { reason: 'test', now: step.now });
      }
      case 'pass':
        return undefined;
    }
  }

  async #release(claims: readonly Claim[], ms: number): Promise<unknown> {
    for (const { id } of claims) {
      const death = this.#deaths.get(id);
      if (death) this.#deaths.set(id, Math.min(death, this.#now() + ms));
      await this.#watching.get(id)?.[Symbol.asyncDispose]();
    }
    return this.store.release(claims, { ms });
  }

  /** Core never repeats a claim that may have died. */
  readonly #mayRepeat = ({ id }: Claim): boolean =>
    (this.#deaths.get(id) ?? Number.POSITIVE_INFINITY) > this.#now();

  async #all(
    claims: readonly Claim[],
    verb: (claims: readonly Claim[]) => Promise<readonly ClaimStatus[]>,
  ): Promise<unknown> {
    const statuses = await verb(claims);
    return statuses.map((status, i) => this.status(claims[i] as Claim, status));
  }

  async #look(name: string): Promise<unknown> {
    const { holders, waiters, limit } = await this.store.inspect(name);
    for (const { number, holder } of holders)
      this.#owners.set(`${name} ${number}`, holder.label ?? '');
    const show = (members: typeof holders) =>
      members.map(({ holder, kind, permits, ttlMs, leftMs }) => [
        holder.label,
        kind,
        permits,
        ttlMs,
        round(leftMs),
      ]);
    return [limit, show(holders), show(waiters)];
  }
}

/** Each reading of the machine's clock takes a microsecond here; the other clock counts only ms. */
function round(ms: number): number {
  return Math.round(ms);
}

test.each([
  ['whole', 16],
  ['from the first waiter on', 0],
])('queues that are read %s: answers and hints are those of memory', async (_, front) => {
  let ms = 1_000;
  let us = 0;
  const machine = { ...thisMachine, nowUs: () => ms * 1000 + ++us };
  const sqlite = open(newFile(), { machine, front });
  const memory = memoryStore({ clock: { ...systemClock(), now: () => ms } });
  let runs = 0;

  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 40 }), async (steps) => {
      const run = ++runs;
      ms += 1_000_000;
      us = 0;
      const sides = [memory, sqlite].map((store) => new Side(store, () => ms));
      const claims: Claim[] = [];
      const name = (resource: number) => `run ${run}, resource ${resource}`;
      for (const [at, step] of steps.entries()) {
        if (step.verb === 'pass') ms += step.ms;
        if (step.verb === 'enter') {
          for (const over of step.claims) {
            const label = `claim ${claims.length}`;
            const holder = { host: 'test', pid: 1, since: 0, label };
            claims.push(
              claimOf(name(over.resource), { ...over, resource: name(over.resource), holder }),
            );
            for (const side of sides) await side.watch(claims.at(-1) as Claim);
          }
        }
        const answers = [];
        for (const side of sides) answers.push(await side.run(step, claims, name));
        // Hints are sent in a microtask after the answer.
        await new Promise((resolve) => setImmediate(resolve));
        // Whom the step itself answers need not be told as well.
        const asked = 'which' in step ? [step.which].flat().map((i) => i % claims.length) : [];
        const matters = (hint: string) => !asked.some((i) => hint.startsWith(`claim ${i} `));
        const hints = sides.map((side) => [...new Set(side.hints)].filter(matters).sort());
        for (const side of sides) side.hints = [];
        expect(answers[1], `step ${at} of run ${run}`).toEqual(answers[0]);
        expect(hints[1], `hints of step ${at} of run ${run}`).toEqual(hints[0]);
      }
    }),
    cases(300),
  );
});
