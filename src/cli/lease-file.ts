/**
 * A lease in a file: what `run --hand-over` leaves, and `resume` goes on with.
 *
 * The text is a secret, so no other user can read the file; and it is there whole or not at all.
 */
import { lstatSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { isLockError, messageOf } from '../base/errors.ts';
import { randomId } from '../base/random-id.ts';
import type { Lease } from '../core/lease.ts';
import type { CommandEnding } from './command.ts';
import { quote } from './output.ts';
import { ExitError, STATUS } from './process/exit-status.ts';
import type { Scene } from './under-lock.ts';

/**
 * Takes a lease, and runs the command under it. If that succeeds, the lease goes into the file at
 * this path, if there is one; else it is released.
 */
export async function runUnder(
  { locks, runs }: Scene,
  path: string | undefined,
  taking: () => Promise<Lease>,
): Promise<CommandEnding> {
  if (path !== undefined) locks.engine.services.calls.verb('handOver');
  const lease = await taking();
  try {
    const ending = await runs(lease);
    if (path !== undefined && ending.status === 0) await leaveIn(path, lease);
    return ending;
  } finally {
    await lease.release();
  }
}

async function leaveIn(path: string, lease: Lease): Promise<void> {
  const made = `${path}.${randomId()}`;
  // First: if that fails, the lease is still there to be released.
  writing(path, () => writeFileSync(made, '', { mode: 0o600, flag: 'wx' }));
  try {
    const text = await lease.handOver();
    writing(path, () => {
      writeFileSync(made, `${text}\n`);
      renameSync(made, path);
    });
  } catch (cause) {
    rmSync(made, { force: true });
    if (!isLockError(cause, 'LEASE_LOST')) throw cause;
    throw new ExitError(STATUS.lost, cause.message, { cause });
  }
}

/** @throws ExitError */
function writing(path: string, write: () => void): void {
  try {
    write();
  } catch (cause) {
    const message = `The file ${quote(path)} cannot be written: ${messageOf(cause)}.`;
    throw new ExitError(STATUS.output, message, { cause });
  }
}

/** @throws ExitError */
export function readLease(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (cause) {
    const message = `No lease can be read from ${quote(path)}: ${messageOf(cause)}.`;
    throw new ExitError(STATUS.notAcquired, message, { cause });
  }
}

/** Its lease has been resumed. A pipe stays; so does a file that cannot be removed. */
export function removeLease(path: string): void {
  try {
    if (lstatSync(path).isFile()) rmSync(path);
  } catch {
    // It leads to no lock any more, and this one is held.
  }
}
