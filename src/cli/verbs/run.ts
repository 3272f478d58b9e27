import { basename } from 'node:path';
import { MAX_PERMITS } from '../../contract/store.ts';
import { AcquireTimeoutError } from '../../core/errors.ts';
import type { Lease } from '../../core/lease.ts';
import type { Locks } from '../../locks.ts';
import type { Lock } from '../../primitives/lock.ts';
import { ALONE, type Arguments, COMMON, misuse, VALUE } from '../arguments.ts';
import { type Ending, endingOf, onTerminal } from '../command.ts';
import { openLocks } from '../open-locks.ts';
import { ExitError, STATUS, statusOf } from '../process/exit-status.ts';
import { endBy, untilSignal } from '../process/signals.ts';
import { hold } from './hold.ts';
import type { Verb } from './verb.ts';

const HELP = `Usage: holdfast run NAME [flags] -- COMMAND [ARGUMENT...]

Runs a command while holding the lock NAME.

  --try             do not wait for it
  --wait DURATION   wait at most this long: 500ms, 30s, 5m, 2h (default: no limit)
  --limit N         a semaphore: at most N permits are held at a time
  --permits K       takes K of them (default 1)
  --read, --shared  the read side of a read-write lock
  --write           its write side
  --ttl DURATION    how long the lock outlives a dead holder (default 10s, at most 30s)
  --fair            strict order, which a command always has
  --label TEXT      shown to people (default: the name of the command)
  --grace DURATION  after a lost lock, time from SIGTERM to SIGKILL (default 5s)
  -E STATUS         exit status if the lock is not acquired (default 75); 0 prints nothing
  --store URL       sqlite:FILE, postgres://HOST, etcd://HOST, …; default $HOLDFAST_STORE or a file
  --json            errors as JSON, on the standard error

The command finds HOLDFAST_TOKEN, HOLDFAST_RESOURCE and HOLDFAST_LINEAGE in its environment.

Exit status: that of the command, or 128 and the signal that ended it; 64 usage, 69 store
unreachable, 75 not acquired, 77 refused, 78 bad URL or missing package, 79 lock lost and command
ended, 126 command not executable, 127 not found.
`;

const DEFAULT_TTL_MS = 10_000;
const MIN_TTL_MS = 100;
const MAX_TTL_MS = 30_000;
const DEFAULT_GRACE_MS = 5_000;

export const verb: Verb = {
  help: HELP,
  flags: {
    ...COMMON,
    try: ALONE,
    wait: VALUE,
    ttl: VALUE,
    limit: VALUE,
    permits: VALUE,
    read: ALONE,
    shared: ALONE,
    write: ALONE,
    fair: ALONE,
    label: VALUE,
    grace: VALUE,
    E: { ...VALUE, short: 'E' },
  },
  takesCommand: true,
  async run(given) {
    const terminal = onTerminal();
    const { status, signal } = await locked(given);
    // A shell leaves its loop only if the program itself ends by ^C.
    // When the terminal is gone, Node 20 crashes instead of ending by itself.
    if (terminal && (signal === 'SIGINT' || signal === 'SIGHUP')) endBy(signal);
    return status;
  },
};

interface Terms {
  /** 0: a try; undefined: without end. */
  readonly waitMs: number | undefined;
  readonly permits: number;
  lockOn(locks: Locks): Lock;
}

async function locked(given: Arguments): Promise<Ending> {
  const name = given.name(': write run NAME -- COMMAND');
  const words = commandOf(given);
  const terms = termsOf(given, name);
  const graceMs = given.duration('grace') ?? DEFAULT_GRACE_MS;
  const notAcquired = given.whole('E', 0, 255) ?? STATUS.notAcquired;
  const label = given.text('label') ?? basename(words[0] as string);
  const ttl = ttlOf(given);

  const interrupt = untilSignal();
  const locks = await openLocks(given, { label, ttl });
  try {
    const lease = await acquire(locks, terms, interrupt);
    return await hold(lease, words, { graceMs, asJson: given.has('json') });
  } catch (error) {
    if (interrupt.aborted && error === interrupt.reason) return endingOf(null, interrupt.reason);
    if (statusOf(error) !== STATUS.notAcquired) throw error;
    throw new ExitError(notAcquired, (error as Error).message, { cause: error });
  } finally {
    await locks.close();
  }
}

/** @throws the signal's reason, or the error that explains why there is no lease. */
async function acquire(locks: Locks, terms: Terms, signal: AbortSignal): Promise<Lease> {
  const { waitMs, permits } = terms;
  const options = { permits, signal, ...(waitMs === undefined ? {} : { wait: waitMs }) };
  const lock = terms.lockOn(locks);
  const lease = await (waitMs === 0 ? lock.tryAcquire(options) : lock.acquire(options));
  if (!lease) {
    const { holders } = await locks.inspect(lock.resource);
    throw new AcquireTimeoutError(lock.resource, { waitedMs: 0, holders });
  }
  if (signal.aborted) await lease.release();
  signal.throwIfAborted();
  return lease;
}

function commandOf({ command }: Arguments): readonly string[] {
  if (command?.[0] !== undefined) return command;
  throw misuse('The command is missing: run NAME -- COMMAND');
}

function termsOf(given: Arguments, name: string): Terms {
  const wait = given.duration('wait');
  if (wait !== undefined && given.has('try')) throw misuse('--try takes no --wait: it never waits');
  const waitMs = given.has('try') ? 0 : wait;
  const reads = given.has('read') || given.has('shared');
  const writes = given.has('write');
  const limit = given.whole('limit', 1, MAX_PERMITS);
  const permits = given.whole('permits', 1, limit ?? MAX_PERMITS) ?? 1;
  if (given.has('permits') && limit === undefined) throw misuse('--permits needs --limit');
  if (Number(reads) + Number(writes) + Number(limit !== undefined) > 1) {
    throw misuse('Give only one of --limit, --read and --write: they are different kinds of lock');
  }
  const options = { fair: given.has('fair') };
  const lockOn = (locks: Locks): Lock => {
    if (limit !== undefined) return locks.semaphore(name, { ...options, limit });
    if (reads) return locks.rwLock(name, options).read;
    return writes ? locks.rwLock(name, options).write : locks.mutex(name, options);
  };
  return { waitMs, permits, lockOn };
}

function ttlOf(given: Arguments): number {
  const ttl = given.duration('ttl') ?? DEFAULT_TTL_MS;
  if (ttl < MIN_TTL_MS) throw misuse('--ttl must be at least 100ms');
  if (ttl <= MAX_TTL_MS) return ttl;
  throw misuse('--ttl must be at most 30s; heartbeats keep a lock for longer');
}
