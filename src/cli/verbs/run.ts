import { MAX_PERMITS } from '../../contract/store.ts';
import type { Lease } from '../../core/lease.ts';
import type { Locks } from '../../locks.ts';
import type { Lock } from '../../primitives/lock.ts';
import { ALONE, type Arguments, type CliVerb, misuse, VALUE } from '../arguments.ts';
import { runUnder } from '../lease-file.ts';
import { holdsOf, LOCK_FLAGS, LOCK_HELP, type Scene, underLock, waitOf } from '../under-lock.ts';
import { secondTry } from './second-try.ts';

export const verb: CliVerb = {
  help: `Usage: holdfast run NAME [flags] -- COMMAND [ARGUMENT...]

Runs a command while holding the lock NAME.

  --try             do not wait for it; where the store has no clock, as in MongoDB and Consul,
                    up to one TTL passes until it is known whether the holder lives
  --wait DURATION   wait at most this long: 500ms, 30s, 5m, 2h (default: no limit)
  --limit N         a semaphore: at most N permits are held at a time
  --permits K       takes K of them (default 1)
  --read, --shared  the read side of a read-write lock
  --write           its write side
  --min-hold DURATION  the lock stays taken for at least this long, even if the command is quicker;
                    Redis allows up to its maxTtl, by default 10s, PostgreSQL and MySQL 30s; to
                    raise it, give all programs a URL such as redis://HOST?maxTtl=10m
  --max-hold DURATION  the command is ended, and the lock lost, after this long
  --fair            strict order, which a command always has
  --replace-waiting  only the newest waits, of those with this flag or --replace; it ends the others
  --replace         the same, and ends the one whose command runs, as if its lock were lost
  --hand-over FILE  if the command succeeds, keep the lock: 'holdfast resume FILE' goes on with it,
                    within the ttl; a reader of FILE has the lock
${LOCK_HELP}
The command finds HOLDFAST_TOKEN, HOLDFAST_RESOURCE and HOLDFAST_LINEAGE in its environment.

Exit status: that of the command, or 128 and the signal that ended it; 64 usage, 69 store
unreachable, 74 FILE not writable, 75 not acquired, 77 refused, 78 bad URL or missing package, 79
lock lost and command ended, 126 command not executable, 127 not found.
`,
  flags: {
    ...{ try: ALONE, wait: VALUE, limit: VALUE, permits: VALUE },
    ...{ read: ALONE, shared: ALONE, write: ALONE, fair: ALONE },
    ...{ 'min-hold': VALUE, 'max-hold': VALUE, 'hand-over': VALUE },
    ...{ replace: ALONE, 'replace-waiting': ALONE },
    ...LOCK_FLAGS,
  },
  takesCommand: true,
  async run(given) {
    const name = given.name(': write run NAME -- COMMAND');
    const terms = termsOf(given, name);
    return underLock(given, name, (scene) =>
      runUnder(scene, given.text('hand-over'), () => acquire(scene, terms)),
    );
  },
};

/** @throws the signal's reason, or the error that explains why there is no lease. */
async function acquire(
  { locks, signal }: Scene,
  { waitMs, permits, ifBusy, lockOn }: ReturnType<typeof termsOf>,
): Promise<Lease> {
  const lock = lockOn(locks);
  const options = { permits, signal, ifBusy };
  const tryAgain = (): Promise<Lease> =>
    secondTry(locks, { name: lock.resource, signal }, (terms) =>
      lock.acquire({ ...options, ...terms }),
    );
  if (waitMs !== 0) return lock.acquire({ ...options, wait: waitMs });
  return (await lock.tryAcquire(options)) ?? (await tryAgain());
}

function termsOf(given: Arguments, name: string) {
  const reads = given.has('read') || given.has('shared');
  const writes = given.has('write');
  const limit = given.whole('limit', 1, MAX_PERMITS);
  const permits = given.whole('permits', 1, limit ?? MAX_PERMITS) ?? 1;
  if (given.has('permits') && limit === undefined) throw misuse('--permits needs --limit');
  if (Number(reads) + Number(writes) + Number(limit !== undefined) > 1) {
    throw misuse('Give only one of --limit, --read and --write: they are different kinds of lock');
  }
  const options = { fair: given.has('fair'), ...holdsOf(given) };
  const lockOn = (locks: Locks): Lock => {
    if (limit !== undefined) return locks.semaphore(name, { ...options, limit });
    if (reads) return locks.rwLock(name, options).read;
    return writes ? locks.rwLock(name, options).write : locks.mutex(name, options);
  };
  const [ifBusy] = (['replace', 'replace-waiting'] as const).filter((flag) => given.has(flag));
  const waitMs = waitOf(given);
  if (waitMs === 0 && ifBusy) throw misuse(`--try takes no --${ifBusy}: it never waits`);
  return { waitMs, permits, ifBusy, lockOn };
}
