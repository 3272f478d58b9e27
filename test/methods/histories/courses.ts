/** What correct locks and fences did, by the seeds of this run; and the same spoilt. */
import { expect } from 'vitest';
import { simulatedClock } from '../../../src/testkit/simulated-clock.ts';
import { AGAIN, RUN, WHOLE } from '../../support/this-run.ts';
import { correctOperations, type Recorded } from './correct-operations.ts';
import { CORRUPTIONS, type Corruption } from './corruptions.ts';

const KINDS = ['mutex', 'rw', 'permits'] as const;

const COURSES = WHOLE ? 60 : 9;
/** Some corruptions are possible in few courses: so many have to be met. */
const SPOILT = WHOLE ? 6 : 2;
/** With ten, a checker tries hundreds of thousands of orders of what a semaphore did. */
const MOST_UNKNOWN = 6;

export interface Course {
  readonly seed: number;
  /** To be told with a failure. */
  readonly where: string;
  readonly recorded: Recorded;
}

export class Courses {
  readonly #unknown: number;
  readonly #known: Course[] = [];

  /** `unknown`: the share of operations that never return. */
  constructor(unknown: number) {
    this.#unknown = unknown;
  }

  /** As many as a run tries. */
  all(): Course[] {
    return Array.from({ length: COURSES }, (_, i) => this.#at(i));
  }

  /** By name. Only those who outlive their lease come to the fence with an old token. */
  corruptions(): [name: string, Corruption][] {
    return Object.entries(CORRUPTIONS).filter(([name]) => {
      return this.#unknown > 0 || name !== 'a stale token is let in';
    });
  }

  /** Expects that each of them is found illegal once it is spoilt; some can be in few courses. */
  async expectIllegal(
    corrupt: Corruption,
    judge: (recorded: Recorded) => string | Promise<string>,
  ): Promise<void> {
    const found: string[] = [];
    for (let i = 0; i < COURSES || found.length < SPOILT; i++) {
      expect(i, `cannot be spoilt, ${AGAIN}`).toBeLessThan(3_000);
      const { seed, where, recorded } = this.#at(i);
      const spoilt = corrupt(recorded, simulatedClock(seed).random);
      if (!spoilt) continue;
      const verdict = await judge(spoilt);
      expect(verdict, where).not.toBe('legal');
      found.push(verdict);
    }
    // Of some thousands one has more orders than can be tried.
    expect(found.filter((each) => each !== 'illegal').length, AGAIN).toBeLessThan(2);
  }

  #at(i: number): Course {
    const kind = KINDS[i % KINDS.length] ?? 'mutex';
    const seed = RUN * 1000 + Math.floor(i / KINDS.length);
    const lengths = { operations: 120, unknown: this.#unknown, mostUnknown: MOST_UNKNOWN };
    this.#known[i] ??= {
      seed,
      where: `${kind}, seed ${seed}, ${AGAIN}`,
      recorded: correctOperations({ seed, kind, ...lengths }),
    };
    return this.#known[i];
  }
}
