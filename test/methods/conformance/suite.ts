/**
 * The conformance suite, as our own tests register it: with it, everything that locks promise on
 * any store. That is about core, which speaks with each store in the same verbs.
 *
 * The cases about locks with one holder are the same for three kinds of lock, which a store does
 * not tell apart. So each run has each of these cases on one kind, others for other stores: three
 * runs in a row have them all, and a whole run has.
 */
import { createHash } from 'node:crypto';
import { basename } from 'node:path';
import type { ConformanceOptions, Fixture, SimulatedClock } from 'holdfast/testkit';
import { simulatedClock } from 'holdfast/testkit';
import { expect, test } from 'vitest';
import { register, TOPICS } from '../../../src/testkit/conformance.ts';
import { RUN, WHOLE } from '../../support/this-run.ts';
import { MUTEXES } from './locks/lock-of.ts';
import { LOCKS } from './locks/topics.ts';

type Given = Omit<ConformanceOptions, 'test' | 'skip' | 'topics'>;

export interface SuiteOptions extends Given {
  /** As those of `conformance`. */
  readonly topics?: readonly string[] | undefined;
  /** Cases that the store does not promise, and why. */
  readonly except?: readonly { readonly names: RegExp; readonly why: string }[];
  /** How many cases run at once; default as many as the project allows. */
  readonly atOnce?: number;
  /** Each case about one holder runs on all kinds of lock. Default false. */
  readonly allKinds?: boolean;
  /** Unless it is whole, a run has one case in so many, others each time. Default 1. */
  readonly oneIn?: number;
}

/** Registers those cases whose turn it is. */
export function suite(options: SuiteOptions): void {
  const { topics, except = [], atOnce = Number.POSITIVE_INFINITY, oneIn = 1, ...given } = options;
  const { allKinds = WHOLE || topics !== undefined, ...rest } = given;
  const due = (name: string): boolean =>
    (allKinds || isOfThisKind(name)) && (WHOLE || (chanceOf(name) + RUN) % oneIn === 0);
  let cases = 0;
  // One that is not concurrent waits for those before it, and those after it wait for it.
  const next = (): typeof test.concurrent =>
    ++cases % (atOnce + 1) === 0 ? test : test.concurrent;
  const skip = (name: string, reason: string): void => {
    if (due(name)) next()(name, (context) => context.skip(reason));
  };
  register([...TOPICS, ...LOCKS], {
    ...rest,
    ...(topics && { topics }),
    test(name, body) {
      const exception = except.find(({ names }) => names.test(name));
      if (exception) skip(name, `not promised: ${exception.why}`);
      else if (due(name)) next()(name, body);
    },
    skip,
  });
}

/** Whether a case is not about one kind of lock, or its kind is that of this run. */
function isOfThisKind(name: string): boolean {
  const [kind, ...rest] = name.split(', ');
  const place = MUTEXES.findIndex((each) => each.name === kind);
  return place === -1 || (chanceOf(`${rest}`) + RUN) % MUTEXES.length === place;
}

/** The same in each run, another in each file. */
function chanceOf(name: string): number {
  const file = basename(expect.getState().testPath ?? '');
  return createHash('sha256').update(`${file} ${name}`).digest().readUInt32BE();
}

interface SimulatedOptions extends Omit<SuiteOptions, 'create'> {
  /** Of the clock's chance; default that of this run. */
  readonly seed?: number;
  open(
    clock: SimulatedClock,
    options: { readonly maxWaiters: number; readonly quarantine: number },
  ): Fixture | Promise<Fixture>;
}

/** For stores that count lives on a clock that they are given: no case waits in real time. */
export function simulatedSuite({ seed = RUN, open, ...options }: SimulatedOptions): void {
  suite({
    ...options,
    atOnce: 1,
    leaps: true,
    async create({ maxWaiters = 10_000, quarantineMs: quarantine = 30_000 }) {
      const clock = simulatedClock(seed);
      const fixture = await open(clock, { maxWaiters, quarantine });
      return {
        clock,
        leap: (ms) => clock.sleep(ms),
        ...fixture,
        async dispose() {
          clock.stop();
          await fixture.dispose?.();
        },
      };
    },
  });
}
