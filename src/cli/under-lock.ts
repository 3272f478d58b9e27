/** What `run`, `once` and `elect` share: their flags, and a command that runs under a lease. */
import { basename } from 'node:path';
import type { AcquireTimeoutError } from '../core/errors.ts';
import type { Lease } from '../core/lease.ts';
import type { Locks } from '../locks.ts';
import type { LockOptions } from '../primitives/lock-options.ts';
import { ALONE, type Arguments, COMMON, type Flags, misuse, VALUE } from './arguments.ts';
import { type CommandEnding, endingOf, onTerminal } from './command.ts';
import { openLocks } from './open-locks.ts';
import { ExitError, STATUS, statusOf } from './process/exit-status.ts';
import { hold } from './process/hold.ts';
import { endBy, untilSignal } from './process/signals.ts';
import { WaitingLine } from './waiting-line.ts';

export const LOCK_FLAGS: Flags = {
  ...COMMON,
  ttl: VALUE,
  label: VALUE,
  grace: VALUE,
  verbose: { ...ALONE, short: 'v' },
  E: { ...VALUE, short: 'E' },
};

export const LOCK_HELP = `\
  --ttl DURATION    how long the lock outlives a dead holder (default 10s, or the store's
                    maxTtl if that is less; Redis, PostgreSQL and MySQL allow up to that)
  --label TEXT      shown to people (default: the name of the command)
  --grace DURATION  after a lost lock, time from SIGTERM to SIGKILL (default 5s)
  -v, --verbose     says for whom it waits; on a terminal it always does
  -E STATUS         exit status if the lock is not acquired (default 75); with 0 it does not
                    mention another holder
  --store URL       sqlite:FILE, postgres://HOST, etcd://HOST, …, or the path of a file;
                    default $HOLDFAST_STORE or a file
  --json            errors as JSON, on the standard error
`;

const MIN_TTL_MS = 100;
const DEFAULT_GRACE_MS = 5_000;

export interface Scene {
  readonly locks: Locks;
  /** Aborts with the signal that ends the wait, or with the error of a wait without end. */
  readonly signal: AbortSignal;
  runs(lease: Lease): Promise<CommandEnding>;
  /** Waits once more, and says so, after a run. */
  waits(): void;
}

type SceneWork = (scene: Scene) => Promise<CommandEnding>;

/** Opens the locks, does the work, and resolves with the status for which the process ends. */
export async function underLock(given: Arguments, name: string, work: SceneWork): Promise<number> {
  const terminal = onTerminal();
  const { status, signal } = await doWork(given, name, work);
  // A shell leaves its loop only if the program itself ends by ^C.
  // When the terminal is gone, Node 20 crashes instead of ending by itself.
  if (terminal && (signal === 'SIGINT' || signal === 'SIGHUP')) endBy(signal);
  return status;
}

async function doWork(given: Arguments, name: string, work: SceneWork): Promise<CommandEnding> {
  const { command: words = [] } = given;
  const [program] = words;
  if (program === undefined) throw misuse('The command is missing behind --');
  const graceMs = given.duration('grace') ?? DEFAULT_GRACE_MS;
  const notAcquired = given.whole('E', 0, 255) ?? STATUS.notAcquired;
  const label = given.text('label') ?? basename(program);
  const ttl = given.duration('ttl');
  if (ttl !== undefined && ttl < MIN_TTL_MS) throw misuse('--ttl must be at least 100ms');
  const interrupt = untilSignal();
  const minHoldMs = given.duration('min-hold');
  const options = { label, ...(ttl !== undefined && { ttl }) };
  const locks = await openLocks(given, { options, minHoldMs });
  const refused = new AbortController();
  const waiting = (): WaitingLine =>
    new WaitingLine(locks, {
      name,
      verbose: given.has('verbose'),
      asJson: given.has('json'),
      refuse: (error) => refused.abort(error),
    });
  let line = waiting();
  const signal = AbortSignal.any([interrupt, refused.signal]);
  try {
    return await work({
      locks,
      signal,
      runs: async (lease) => {
        // Or the command might write behind it.
        await line.stop();
        signal.throwIfAborted();
        return hold(lease, words, { graceMs, asJson: given.has('json') });
      },
      waits: () => {
        line = waiting();
      },
    });
  } catch (error) {
    if (interrupt.aborted && error === interrupt.reason) return endingOf(null, interrupt.reason);
    if (statusOf(error) !== STATUS.notAcquired) throw error;
    const quiet = isHeld(error) && !given.has('verbose');
    if (quiet && notAcquired === 0) return { status: 0, signal: null };
    throw new ExitError(notAcquired, (error as Error).message, { cause: error });
  } finally {
    await line.stop();
    await locks.close();
  }
}

/** Whether another one holds: the refusal to expect where several try. */
function isHeld(error: unknown): boolean {
  const { cause = error } = error as Error;
  const { why, holders = [] } = cause as Partial<AcquireTimeoutError>;
  return holders.length > 0 && why !== 'data-loss';
}

/** `--min-hold` and `--max-hold`. */
export function holdsOf(given: Arguments): Pick<LockOptions, 'minHold' | 'maxHold'> {
  const minHold = given.duration('min-hold');
  const maxHold = given.duration('max-hold');
  if (maxHold === 0) throw misuse('--max-hold must be more than 0');
  if (minHold !== undefined && maxHold !== undefined && maxHold < minHold) {
    throw misuse('--max-hold must not be less than --min-hold');
  }
  return { minHold, maxHold };
}

/** `--wait` and `--try`, in ms: 0 does not wait, undefined waits without end. */
export function waitOf(given: Arguments): number | undefined {
  const wait = given.duration('wait');
  if (!given.has('try')) return wait;
  if (wait !== undefined) throw misuse('--try takes no --wait: it never waits');
  return 0;
}
