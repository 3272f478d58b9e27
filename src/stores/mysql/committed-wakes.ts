/**
 * Wakes the claims that a committed change concerns: those of this process at once, those of
 * another by an interruption of its session. Nothing depends on a wake: a process that misses one
 * finds it by its own look, and a connection that breaks says so to the next request too.
 */
import type { TextRow } from '../../clients/sql/session.ts';
import { NEXT } from './holding.ts';
import type { Common, Requests } from './requests.ts';
import { holderOf, nextOf, type RowWake } from './statements.ts';
import { kill, sessionOf } from './wake-session.ts';

export class CommittedWakes {
  readonly #requests: Requests;
  readonly #common: Common;

  constructor(requests: Requests, common: Common) {
    this.#requests = requests;
    this.#common = common;
  }

  /** After a release, by what it says of the claim behind. */
  next(next: number, name: string): void {
    if (next > NEXT.unwoken) this.#interrupt(String(next - NEXT.unwoken));
    if (next === NEXT.own) this.#wakeOwn(name).catch(() => {});
    // A session that begins to wait has no name for a moment. After the commit, it has one, or it
    // will find the wake by its own look.
    if (next === NEXT.unwoken) this.holder(name);
  }

  holder(name: string): void {
    this.#wakeHolder(name).catch(() => {});
  }

  /** Those for other processes, which a write stores in the same statement. */
  others(wakes: readonly RowWake[]): RowWake[] {
    return wakes.filter(({ address }) => address !== this.#common.wakeSession?.address);
  }

  all(wakes: readonly RowWake[]): void {
    const others = this.others(wakes);
    for (const wake of wakes) {
      if (!others.includes(wake)) this.#common.wakeSession?.wake(wake.message);
    }
    for (const address of new Set(others.map((wake) => wake.address))) {
      this.#interrupt(sessionOf(address));
    }
  }

  /** What the row says of the claims of this process that hold or wait first. */
  async #wakeOwn(name: string): Promise<void> {
    const { tables } = this.#common;
    const both = [holderOf(tables, name), nextOf(tables, name)].join(' UNION ALL ');
    for (const row of await this.#requests.query(both)) this.#wake(row, () => {});
  }

  /** A process that has no session for wakes finds them when it looks. */
  async #wakeHolder(name: string): Promise<void> {
    for (const row of await this.#requests.query(holderOf(this.#common.tables, name))) {
      this.#wake(row, (address) => this.#interrupt(sessionOf(address)));
    }
  }

  #wake(row: TextRow, others: (address: string) => void): void {
    const { wakeSession } = this.#common;
    const [address = '', ...words] = String(row[0]).split(' ');
    if (address === wakeSession?.address) wakeSession.takeLine(words.join(' '));
    else others(address);
  }

  #interrupt(session: string): void {
    kill(this.#requests, `QUERY (${session})`).catch(() => {});
  }
}
