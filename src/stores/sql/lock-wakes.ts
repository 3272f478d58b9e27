/**
 * How waiting claims learn of a change in their rows: by notifications, where the server sends them
 * to this process, and else by looks at the rows.
 */
import type { Clock } from '../../base/clock.ts';
import { toText } from '../../clients/sql/name-text.ts';
import type { Claim, ClaimStatus, Subscribed, Wake } from '../../contract/store.ts';
import { Polling, type PollingParts } from '../polling.ts';
import { Wakes } from '../wakes.ts';
import { CHANNEL } from './link.ts';
import { crowdOf } from './row.ts';
import type { Table } from './table.ts';

export class LockWakes extends Wakes {
  readonly #table: Table;
  readonly #maxTtlMs: number;
  readonly #polling: Polling;

  constructor(table: Table, clock: Clock, maxTtlMs: number) {
    super(table.link, CHANNEL);
    this.#table = table;
    this.#maxTtlMs = maxTtlMs;
    this.#polling = new Polling({ clock, look: this.#look });
  }

  override watch(claim: Claim, wake: Wake): Subscribed {
    const sends = this.#table.link.sendsWakes();
    const watch = (known: boolean): Subscribed =>
      known ? super.watch(claim, wake) : this.#polling.watch(claim, wake);
    return typeof sends === 'boolean' ? watch(sends) : sends.catch(() => true).then(watch);
  }

  /** The reply to a verb of this claim: the next look depends on it. */
  override saw(claim: Claim, status: ClaimStatus): void {
    this.#polling.saw(claim, status);
    super.saw(claim, status);
  }

  close(): void {
    this.#polling.close();
  }

  readonly #look: PollingParts['look'] = async (ids, resources) => {
    const terms = { lane: 'claims' as const, withinMs: this.#maxTtlMs };
    const { moment, rows } = await this.#table.read([...resources].map(toText), terms);
    const [now, asked] = [moment.now / 1000, new Set(ids)];
    const living = rows.flatMap((row) => {
      const { queue } = crowdOf(row, moment);
      const own = [...queue.claims].filter(({ id, expiresAt }) => asked.has(id) && expiresAt > now);
      return own.map((entry) => [entry.id, queue.statusOf(entry, now)] as const);
    });
    return new Map(living);
  };
}
