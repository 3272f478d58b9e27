/**
 * Records of finished work, each kept for its own time.
 *
 * Invariant: a record is there for its whole time, and ends. Its end is a reading of the monotonic
 * clock, which no step of the wall clock moves, so within a boot both hold. A reboot begins that
 * clock anew, and a record may be kept for days. So once a minute the file notes both clocks, and
 * the first program to join after a reboot moves all ends (layout.ts): from the life that each
 * record had left at that note, it takes the time by which the wall clock has gone on, and counts
 * the rest from now. No program of the boot before is still running, so none has used them.
 * - A wall clock that was set back, or has lost its battery, shows no time: a record then lives
 *   longer by the time since the note, and never has more left than it had there.
 * - One that is far ahead when the machine starts cannot be told from a long shutdown: records end.
 * - Without a boot's name a reboot is only known if the monotonic clock is behind the note. If it
 *   is not, it has gone on from there by no more than the time that has passed, so ends may stay.
 * What would break it: an end noted as wall time, which is known only once the network has set the
 * clock, minutes after the boot; a reading of one clock noted without the other's.
 */
import { fromText, toText } from '../../clients/sql/name-text.ts';
import type { FileConnection, SqliteStatement } from '../../clients/sqlite/connection.ts';
import type { Machine } from '../../clients/sqlite/machine.ts';
import type { Claim, Kept, RecordTerms } from '../../contract/store.ts';
import { toUs } from './rows.ts';

const SQL = {
  /** Resource, now. */
  recall: 'SELECT text, until FROM holdfast_record WHERE resource = ? AND until > ?',
  /** Resource, until, text, resource, id, now. */
  keep: `INSERT INTO holdfast_record (resource, until, text)
    SELECT ?, ?, ? WHERE EXISTS (SELECT 1 FROM holdfast_claim
      WHERE resource = ? AND id = ? AND admitted = 1 AND sealed IS NULL AND expires > ?)
    ON CONFLICT (resource) DO UPDATE SET until = excluded.until, text = excluded.text`,
  forget: 'DELETE FROM holdfast_record WHERE resource = ?',
  /** Now, how many. */
  sweep: `DELETE FROM holdfast_record WHERE rowid IN
    (SELECT rowid FROM holdfast_record WHERE until <= ? ORDER BY until LIMIT ?)`,
} as const;

/** Each new record removes this many old ones, so that none pile up. */
const SWEPT_EACH = 2;

/** A sweep removes this many, once a minute, where nothing new is kept. */
const SWEPT_AT_ONCE = 1000;

export class Records {
  readonly #machine: Machine;
  readonly #sql: Readonly<Record<keyof typeof SQL, SqliteStatement>>;

  constructor(connection: FileConnection, machine: Machine) {
    this.#machine = machine;
    this.#sql = connection.prepareAll(SQL);
  }

  /** False, and nothing is kept, unless the claim's row shows that it holds. */
  keep({ resource, id }: Claim, { text, ms }: RecordTerms): boolean {
    const name = toText(resource);
    const now = this.#machine.nowUs();
    const kept = [name, now + toUs(ms), toText(text)] as const;
    if (Number(this.#sql.keep.run(...kept, name, id, now).changes) === 0) return false;
    if (ms > 0) this.#sql.sweep.run(now, SWEPT_EACH);
    else this.#sql.forget.run(name);
    return true;
  }

  recall(resource: string): Kept | undefined {
    const now = this.#machine.nowUs();
    const [row] = this.#sql.recall.all(toText(resource), now) as [{ text: string; until: number }?];
    return row && { text: fromText(row.text), leftMs: (row.until - now) / 1000 };
  }

  sweep(): void {
    this.#sql.sweep.run(this.#machine.nowUs(), SWEPT_AT_ONCE);
  }
}
