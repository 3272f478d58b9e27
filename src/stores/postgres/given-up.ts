/**
 * Sessions that were given up while the server was at work for them, and may be so still.
 *
 * A server does not notice that no client waits for its reply any more. It waits for a lock no
 * longer than opening.ts allows; for a standby, or for its disk, it waits as long as it takes.
 * Ending a session that waits for a standby would be wrong: the server then shows a commit that no
 * standby has, and would grant the claim that is asked again. So the store leaves such sessions
 * alone, and when there are too many, begins no more until one of them is over: one program must
 * not use up the connections of all.
 */
import type { PostgresSession } from '../../clients/postgres/connection.ts';
import { temporaryFailure } from '../../contract/errors.ts';

const MOST = 4;

export class GivenUp {
  #pids = new Set<number>();

  /** Adds a session that the server may still be at work for. */
  add(pid: number): void {
    this.#pids.add(pid);
  }

  /** @throws StoreError as long as there are too many. */
  async check(connection: PostgresSession): Promise<void> {
    if (this.#pids.size < MOST) return;
    // A session that is done but cannot reply, because the network is gone, blocks nothing.
    const text = `SELECT pid::text FROM pg_stat_activity
WHERE pid IN (${[...this.#pids].join()}) AND application_name = 'holdfast' AND state = 'active'`;
    const rows = await connection.query({ text });
    this.#pids = new Set(rows.map(([pid]) => Number(pid)));
    const { size } = this.#pids;
    if (size < MOST) return;
    const message =
      `The PostgreSQL server has not finished with ${size} sessions that were given up: it waits` +
      ' for a standby, or for its disk. Look at wait_event in pg_stat_activity.';
    throw temporaryFailure(message);
  }
}
