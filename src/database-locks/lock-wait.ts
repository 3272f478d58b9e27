import { type Duration, parseDuration } from '../base/duration.ts';
import type { Session } from './session.ts';

/**
 * How long to wait for a lock that somebody else holds. `block` (the default): as long as the
 * database's own limits allow. `nowait`: not at all, and fail. `skip`: not at all, and answer that
 * it was busy. A duration: so long, and fail; MySQL counts whole seconds, rounded up.
 */
export type LockWait = 'block' | 'nowait' | 'skip' | Duration;

/** A number is ms, at least 1. */
export type Wait = 'block' | 'nowait' | 'skip' | number;

/** @throws UsageError */
export function readWait(wait: LockWait = 'block'): Wait {
  if (wait === 'block' || wait === 'nowait' || wait === 'skip') return wait;
  return parseDuration(wait, 'wait') || 'nowait';
}

/** Does `work`, in which no lock is waited for longer than this. */
export function within<T>(session: Session, ms: number, work: () => Promise<T>): Promise<T> {
  return session.dialect === 'postgres'
    ? withinOnPostgres(session, ms, work)
    : withinOnMysql(session, ms, work);
}

async function withinOnPostgres<T>(
  session: Session,
  ms: number,
  work: () => Promise<T>,
): Promise<T> {
  const set = "set_config('lock_timeout', ?, true)";
  const [row] = await session.rows(`SELECT current_setting('lock_timeout') AS "before", ${set}`, [
    `${ms}ms`,
  ]);
  const done = await work();
  // Not after a failure: the rollback, which is all that is left to do, takes the setting back.
  await session.rows(`SELECT ${set}`, [row?.before]);
  return done;
}

async function withinOnMysql<T>(session: Session, ms: number, work: () => Promise<T>): Promise<T> {
  const limit = '@@SESSION.innodb_lock_wait_timeout';
  const [row] = await session.rows(`SELECT ${limit} AS "before"`);
  const set = (seconds: number): Promise<number> => session.count(`SET ${limit} = ${seconds}`);
  await set(Math.max(1, Math.ceil(ms / 1000)));
  let done: T;
  try {
    done = await work();
  } catch (error) {
    // What failed first is what the caller must know, even if the connection has gone since.
    await set(Number(row?.before)).catch(() => {});
    throw error;
  }
  await set(Number(row?.before));
  return done;
}
