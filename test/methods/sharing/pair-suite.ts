/**
 * The same for every dialect without a queue: real programs of another library and of this project,
 * which take the same locks by turns, crash, and stand still.
 */
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { paced } from '../../support/this-run.ts';
import { until } from '../../support/until.ts';
import { type ForeignCommand, ForeignProgram, type ForeignThread } from './foreign-program.ts';
import { ownProgram } from './own.ts';
import { countTogether, crowdedTrial, LONG_TRIAL, trial } from './trial.ts';

export interface Pair {
  /** Of the lock, as the foreign program is told. */
  readonly kind: string;
  readonly foreign: () => Promise<ForeignCommand>;
  /** One that tries again as rarely as the library does by itself. Default: `foreign`. */
  readonly patient?: () => Promise<ForeignCommand>;
  /** For the `open` of programs/dialects.ts. */
  readonly own: () => readonly [dialect: string, url: string, options?: object];
  /** Its holder deletes or ends its lock by name, also when it has become another's. */
  readonly careless?: boolean | 'at times';
  /** Says that a lock that it releases was no longer its own. Default: true. */
  readonly tellsLoss?: boolean;
  /** Of the library. */
  readonly version?: string;
}

/** Of the locks of both sides, in ms. */
export const LEASE_MS: number = paced(1500);

export function pairSuite(name: string, pair: Pair): void {
  let [java, own]: ForeignProgram[] = [];
  const startJava = async (): Promise<ForeignProgram> => ForeignProgram.start(await pair.foreign());
  const startOwn = (): Promise<ForeignProgram> => ForeignProgram.start(ownCommand(pair));
  let why: string | undefined;
  const sides = () => [java as ForeignProgram, own as ForeignProgram] as const;

  beforeAll(async () => {
    why = await missing(pair);
    if (why === undefined) [java, own] = await Promise.all([startJava(), startOwn()]);
  });
  beforeEach(({ skip }) => skip(why !== undefined, why));
  afterAll(async () => void (await Promise.all(sides().map((side) => side?.kill()))));

  const { kind } = pair;
  // A wait with an end may sleep past the end of a crashed holder's lease in some libraries.
  const take = (thread: ForeignThread, lock: string, wait = -1): Promise<boolean> =>
    thread.acquire(kind, lock, { wait, lease: LEASE_MS });

  if (pair.version) {
    test.concurrent(`${name}: it is the version that it is said to be`, async () => {
      expect(await sides()[0].version()).toBe(pair.version);
    });
  }

  test.concurrent(`${name}: what one side holds, the other does not get`, async () => {
    for (const [holder, other] of [sides(), sides().toReversed()]) {
      const [first, second] = [holder!.thread(), other!.thread()];
      expect(await take(first, 'excluded')).toBe(true);
      expect(await take(second, 'excluded', 0)).toBe(false);
      await first.release(kind, 'excluded');
      expect(await take(second, 'excluded')).toBe(true);
      await second.release(kind, 'excluded');
    }
  });

  test.concurrent(`${name}: those who wait on either side all get it`, async () => {
    const [java, own] = sides();
    const [holder, ...waiters] = [own, java, own, java].map((side) => side.thread());
    await take(holder!, 'waited-for');
    const inside: number[] = [];
    const done = waiters.map(async (thread, n) => {
      expect(await take(thread, 'waited-for')).toBe(true);
      inside.push(n);
      expect(inside).toHaveLength(1);
      inside.pop();
      await thread.release(kind, 'waited-for');
    });
    await holder!.release(kind, 'waited-for');
    await Promise.all(done);
  });

  test.concurrent(`${name}: after kill -9 of one side the other gets it later`, async () => {
    for (const start of [startJava, startOwn]) {
      await using killed = await start();
      await take(killed.thread(), 'killed');
      const next = sides()[start === startJava ? 1 : 0].thread();
      await killed.kill();
      expect(await take(next, 'killed', 0)).toBe(false);
      expect(await take(next, 'killed')).toBe(true);
      await next.release(kind, 'killed');
    }
  });

  test.concurrent(`${name}: theirs that stood still does not end ours`, async () => {
    await using stopped = await startJava();
    const [holder, next] = [stopped.thread(), sides()[1].thread()];
    await take(holder, 'stopped');
    stopped.pause();
    expect(await take(next, 'stopped')).toBe(true);
    stopped.resume();
    const release = holder.release(kind, 'stopped');
    if (pair.tellsLoss ?? true) await expect(release).rejects.toThrow();
    else await release;
    const { careless = false } = pair;
    const ended = careless === 'at times' ? await take(holder, 'stopped', 0) : careless;
    if (ended) {
      // What this version does to every successor: ours is told that it has lost the lock.
      await until(
        'it was told',
        async () => (await next.ask('holds', kind, 'stopped')) === 'false',
      );
    } else {
      expect(await take(holder, 'stopped', 0)).toBe(false);
      expect(await next.ask('holds', kind, 'stopped')).toBe('true');
    }
    await next.release(kind, 'stopped');
  });

  test.concurrent(`${name}: ours that stood still has lost it, and ends nothing`, async () => {
    await using stopped = await startOwn();
    const [holder, next] = [stopped.thread(), sides()[0].thread()];
    await take(holder, 'stood-still');
    stopped.pause();
    expect(await take(next, 'stood-still')).toBe(true);
    stopped.resume();
    expect(await holder.ask('holds', kind, 'stood-still')).toBe('false');
    await holder.release(kind, 'stood-still');
    expect(await take(holder, 'stood-still', 0)).toBe(false);
    await next.release(kind, 'stood-still');
    expect(await take(holder, 'stood-still')).toBe(true);
    await holder.release(kind, 'stood-still');
  });

  test(`${name}: a counter that only the lock guards is exact`, async () => {
    const lock = { kind, name: 'counted' };
    // A short trial has one program of each side with four threads, which share nothing.
    const [theirs, ours] = sides().map((side) => [1, 2, 3, 4].map(() => side.thread()));
    const counts = LONG_TRIAL
      ? await trial(ownCommand(pair), await pair.foreign(), lock)
      : await countTogether(ours!, theirs!, lock);
    for (const turns of Object.values(counts)) expect(Math.max(...turns)).toBeGreaterThan(0);
  });

  test(`${name}: many tasks of one process of ours leave turns to two of theirs`, async () => {
    const { foreign, patient = foreign } = pair;
    await crowdedTrial(ownCommand(pair), await patient(), { kind, name: 'crowded' });
  });
}

/** Why its tests have to be skipped, if they have to. */
function missing({ foreign }: Pair): Promise<string | undefined> {
  return foreign().then(
    () => undefined,
    (error: Error) => `not promised: a program in another language: ${error.message}`,
  );
}

const DIALECTS = fileURLToPath(new URL('programs/dialects.ts', import.meta.url));

function ownCommand({ own }: Pair): ForeignCommand {
  const [dialect, url, options = {}] = own();
  return ownProgram(DIALECTS, dialect, url, JSON.stringify(options));
}
