/**
 * The conformance suite: checks the promises of every store on a real one, with any test runner.
 * It skips cases for what a store does not promise, visibly and with the reason.
 */
import assert from 'node:assert/strict';
import { isError, UsageError } from '../base/errors.ts';
import { OPTIONAL_VERBS } from '../contract/store.ts';
import { type Case, check, type Declared, missing, type Topic } from './case.ts';
import { batches } from './contract/batches.ts';
import { claim, tries } from './contract/claim.ts';
import { claimAll } from './contract/claim-all.ts';
import { dataLoss } from './contract/data-loss.ts';
import { evict } from './contract/evict.ts';
import { expiry, renew } from './contract/expiry.ts';
import { handOver } from './contract/hand-over.ts';
import { hints } from './contract/hints.ts';
import { inspect } from './contract/inspect.ts';
import { keep } from './contract/keep.ts';
import { locks } from './contract/locks.ts';
import { names } from './contract/names.ts';
import { order, permits } from './contract/permits.ts';
import { downgrade, readWrite } from './contract/read-write.ts';
import { release } from './contract/release.ts';
import { takeover } from './contract/takeover.ts';
import { raise, tokens } from './contract/tokens.ts';
import { type Fixture, type FixtureOptions, TestBed } from './test-bed.ts';

export interface ConformanceOptions extends Declared {
  /** Registers a case. Cases share nothing and may run at the same time. */
  test(name: string, body: () => Promise<void>): unknown;
  /** Registers a case that cannot run on this store, to show the reason. */
  skip(name: string, reason: string): unknown;
  /** Opens a fixture for one case. */
  create(options: FixtureOptions): Fixture | Promise<Fixture>;
  /**
   * Runs only topics that begin with one of these, such as `['claim', 'renew']`, while a store is
   * being written; default all.
   */
  readonly topics?: readonly string[];
  /**
   * How long a case waits for something to come about, in ms of its clock, before it fails; default
   * 60 s. A whole case may take twice as long. It is there for what hangs: a store that keeps its
   * promises makes no case wait for it, however busy the machine.
   */
  readonly patienceMs?: number;
}

/** A case takes a second or two, and on a busy machine ten: more means that it hangs. */
const PATIENCE_MS = 60_000;

/** All that a store promises: by itself, and to the locks on it. */
export const TOPICS: readonly Topic[] = [
  claim,
  tries,
  claimAll,
  renew,
  release,
  order,
  permits,
  readWrite,
  downgrade,
  expiry,
  takeover,
  evict,
  tokens,
  raise,
  keep,
  handOver,
  hints,
  batches,
  names,
  inspect,
  dataLoss,
  locks,
];

/**
 * Registers all cases with the given runner; see the guide "Adding a store".
 *
 * A case fails by rejecting with an `AssertionError`, whose message quotes the contract. It takes a
 * few seconds, and one that hangs fails after two minutes: see `patienceMs`.
 *
 * @example
 * import { test } from 'node:test';
 * import { conformance } from 'holdfast/testkit';
 *
 * conformance({
 *   test,
 *   skip: (name, reason) => test(name, (context) => context.skip(reason)),
 *   create: ({ maxWaiters }) => ({ connect: () => myStore({ maxWaiters }) }),
 *   traits: myStore().traits,
 * });
 *
 * @experimental Cases are added in minor versions.
 */
export function conformance(options: ConformanceOptions): void {
  register(TOPICS, options);
}

/** Registers the cases of these topics. */
export function register(topics: readonly Topic[], options: ConformanceOptions): void {
  const { patienceMs = PATIENCE_MS } = options;
  const all = chosen([declaration(options), ...topics], options.topics);
  for (const { topic, promise, needs = [], cases } of all) {
    for (const each of cases) {
      const name = `${topic}: ${each.name}`;
      const reason = missing([...needs, ...(each.needs ?? [])], options);
      const run = (): Promise<void> => quoting(promise, runCase(each, options.create, patienceMs));
      if (reason === undefined) options.test(name, run);
      else options.skip(name, `not promised: ${reason}`);
    }
  }
}

function chosen(all: readonly Topic[], beginnings: readonly string[] | undefined) {
  if (!beginnings) return all;
  for (const beginning of beginnings) {
    if (all.some(({ topic }) => topic.startsWith(beginning))) continue;
    const known = all.map(({ topic }) => topic).join('; ');
    throw new UsageError(`No topic begins with '${beginning}'. There are: ${known}.`);
  }
  return all.filter(({ topic }) => beginnings.some((beginning) => topic.startsWith(beginning)));
}

async function quoting(promise: string | undefined, run: Promise<void>): Promise<void> {
  try {
    await run;
  } catch (error) {
    if (promise !== undefined && isError(error)) error.message += `\nThe contract says: ${promise}`;
    throw error;
  }
}

/** Without this, a wrong declaration would skip cases in silence. */
function declaration(declared: Declared): Topic {
  return {
    topic: 'traits',
    cases: [
      check('the store is as it was declared', async ({ store }) => {
        assert.deepEqual({ ...store.traits }, { ...declared.traits });
        const lacks = OPTIONAL_VERBS.filter((verb) => store[verb] === undefined).sort();
        assert.deepEqual(
          lacks,
          [...(declared.lacks ?? [])].sort(),
          `lacks must name the verbs that the store does not have: [${lacks.join(', ')}]`,
        );
        const keeps = store.keep !== undefined && store.recall !== undefined;
        const says = store.traits.records ?? false;
        assert.equal(keeps, says, 'it has keep() and recall() if it says so');
      }),
    ],
  };
}

async function runCase(each: Case, create: ConformanceOptions['create'], patienceMs: number) {
  const bed = await TestBed.open(await create(each.fixture ?? {}), patienceMs);
  try {
    await bed.within(each.limitMs ?? 2 * patienceMs, each.run(bed));
  } finally {
    await bed.close();
  }
}
