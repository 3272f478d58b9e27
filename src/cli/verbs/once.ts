import type { Duration } from '../../base/duration.ts';
import { isLockError } from '../../base/errors.ts';
import { AcquireTimeoutError } from '../../core/errors.ts';
import type { Lease } from '../../core/lease.ts';
import { once, type Running } from '../../jobs/once/index.ts';
import { checkKey } from '../../jobs/records.ts';
import { ALONE, type Arguments, type CliVerb, misuse, VALUE } from '../arguments.ts';
import type { CommandEnding } from '../command.ts';
import { plain, printError, quote } from '../output.ts';
import { ExitError, STATUS } from '../process/exit-status.ts';
import { holdsOf, LOCK_FLAGS, LOCK_HELP, type Scene, underLock, waitOf } from '../under-lock.ts';
import { secondTry } from './second-try.ts';

export const verb: CliVerb = {
  help: `Usage: holdfast once KEY --keep DURATION [flags] -- COMMAND [ARGUMENT...]

Runs a command unless it has succeeded before under this KEY, on any machine. Success is status 0,
and is remembered for the time of --keep. After a failure, the next caller runs the command again.

  --keep DURATION   how long the success is remembered: 12h, 7d, at most 3660d
  --try             exit with 75 while another machine runs it, without waiting
  --wait DURATION   wait at most this long (default: no limit)
  --max-hold DURATION  the command is ended, as a failure, after this long
${LOCK_HELP}
Exit status: that of the command; 0 as well if it has been done before; else as of 'run'.
`,
  flags: { keep: VALUE, try: ALONE, wait: VALUE, 'max-hold': VALUE, ...LOCK_FLAGS },
  takesCommand: true,
  async run(given) {
    const key = given.atMost(1, ': write once KEY -- COMMAND');
    if (key === undefined) throw misuse('KEY is missing');
    const terms = termsOf(given);
    return underLock(given, `once:${checkKey(key)}`, (scene) => runOnce(scene, key, terms));
  },
};

function termsOf(given: Arguments) {
  const keepFor = given.text('keep');
  if (!keepFor) throw misuse('--keep is missing: how long to remember that it is done, such as 7d');
  if (!/^\d+(\.\d+)?(ms|s|m|h|d)$/.test(keepFor)) {
    throw misuse(`--keep takes a duration such as 12h or 7d, not ${quote(keepFor)}`);
  }
  const wait = waitOf(given);
  return {
    keepFor: keepFor as Duration,
    ifRunning: wait === 0 ? ('skip' as const) : ('wait' as const),
    wait: wait || undefined,
    maxHold: holdsOf(given).maxHold,
    verbose: given.has('verbose'),
  };
}

async function runOnce(
  { locks, signal, runs }: Scene,
  key: string,
  { verbose, ...terms }: ReturnType<typeof termsOf>,
): Promise<CommandEnding> {
  let ending: CommandEnding | undefined;
  try {
    const attempt = async (lease: Lease): Promise<void> => {
      ending = await runs(lease);
      if (ending.status !== 0) throw new Error('The command failed, so the key is free again.');
    };
    let done = await once(locks, key, { ...terms, signal }, attempt);
    if (done.state === 'running') {
      const refused = done;
      const name = `once:${key}`;
      done = await secondTry(locks, { name, signal }, (again) =>
        once(locks, key, { ...terms, ...again, ifRunning: 'wait' }, attempt),
      ).catch((error) => {
        throw isLockError(error, 'ACQUIRE_TIMEOUT') ? runningError(key, refused) : error;
      });
    }
    if (done.state === 'done' && verbose) {
      const { host, pid } = done.by;
      await printError(`holdfast: ${quote(key)} has been done by ${plain(host)}, pid ${pid}.`);
    }
    return ending ?? { status: 0, signal: null };
  } catch (error) {
    if (ending && ending.status !== 0) return ending;
    // The command has succeeded, and the lease was lost before that was on record.
    if (ending && isLockError(error, 'LEASE_LOST')) {
      throw new ExitError(STATUS.lost, error.message, { cause: error });
    }
    throw error;
  }
}

function runningError(key: string, running: Running): ExitError {
  const cause = new AcquireTimeoutError(key, 0, running);
  const [member] = running.holders;
  if (!member) return new ExitError(STATUS.notAcquired, cause.message, { cause });
  const who = ` on ${plain(member.holder.host)}, pid ${member.holder.pid}`;
  return new ExitError(STATUS.notAcquired, `${quote(key)} is being done${who}.`, { cause });
}
