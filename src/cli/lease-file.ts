/**
 * A lease in a file: what `run --hand-over` leaves, and `resume` goes on with.
 *
 * The text is a secret, so no other user can read the file; and it is there whole or not at all,
 * for whoever waits for it. It is made before the command begins, so that no command succeeds for a
 * file that cannot be written.
 */
import { readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { isLockError, messageOf } from '../base/errors.ts';
import type { Lease } from '../core/lease.ts';
import type { CommandEnding } from './command.ts';
import { ExitError, STATUS } from './process/exit-status.ts';
import { quote } from './text.ts';
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
  const made = `${path}.${process.pid}`;
  if (path !== undefined) writing(path, () => writeFileSync(made, '', { mode: 0o600, flag: 'wx' }));
  let lease: Lease | undefined;
  try {
    lease = await taking();
    const ending = await runs(lease);
    if (path === undefined || ending.status !== 0) return ending;
    const text = await lease.handOver().catch((cause: unknown) => {
      if (!isLockError(cause, 'LEASE_LOST')) throw cause;
      throw new ExitError(STATUS.lost, cause.message, { cause });
    });
    writing(path, () => writeFileSync(made, `${text}\n`));
    writing(path, () => renameSync(made, path));
    return ending;
  } finally {
    if (path !== undefined) rmSync(made, { force: true });
    await lease?.release();
  }
}

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
    const gone = (cause as NodeJS.ErrnoException).code === 'ENOENT';
    const why = gone ? 'it is not there, or no longer' : messageOf(cause);
    const message = `No lease can be read from ${quote(path)}: ${why}.`;
    throw new ExitError(STATUS.notAcquired, message, { cause });
  }
}
