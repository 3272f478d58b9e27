/**
 * How waiting claims learn of a change in their rows: by notifications, where the server sends them
 * to this process, and else by looks at the rows.
 */
import type { Clock } from '../../base/clock.ts';
import { toText } from '../../clients/sql/name-text.ts';
import type { Claim, ClaimStatus, Subscribed, Wake } from '../../contract/store.ts';
import { Polling } from '../polling.ts';
import { Subscription } from '../subscription.ts';
import { Wakes } from '../wakes.ts';
import { crowdOf } from './row.ts';
import type { Table } from './table.ts';

export class LockWakes {
  readonly #table: Table;
  readonly #maxTtlMs: number;
  readonly #wakes: Wakes;
  readonly #polling: Polling;
  /** The resources of the claims that are polled, by the ids of these. */
  readonly #polled = new Map<string, string>();

  constructor(table: Table, clock: Clock, maxTtlMs: number) {
    this.#table = table;
    this.#maxTtlMs = maxTtlMs;
    this.#wakes = new Wakes(table.link, table.channel);
    this.#polling = new Polling({ clock, look: (ids) => this.#look(ids) });
  }

  tagOf(claim: Claim): string {
    return this.#wakes.tagOf(claim);
  }

  watch(claim: Claim, wake: Wake): Subscribed {
    const sends = this.#table.link.sendsWakes();
    if (typeof sends === 'boolean') return this.#watch(claim, wake, sends);
    return sends.catch(() => true).then((known) => this.#watch(claim, wake, known));
  }

  #watch(claim: Claim, wake: Wake, sends: boolean): Subscribed {
    if (sends) return this.#wakes.watch(claim, wake);
    const { id, resource } = claim;
    this.#polled.set(id, resource);
    const watching = this.#polling.watch(claim, wake);
    return new Subscription(() => {
      this.#polled.delete(id);
      void watching[Symbol.asyncDispose]();
    });
  }

  /** The reply to a verb of this claim: the next look depends on it. */
  saw(claim: Claim, status: ClaimStatus): void {
    this.#polling.saw(claim, status);
    this.#wakes.saw(claim, status);
  }

  close(): void {
    this.#polling.close();
  }

  async #look(ids: readonly string[]): Promise<ReadonlyMap<string, ClaimStatus>> {
    const names = new Set(ids.map((id) => toText(this.#polled.get(id) ?? '')));
    const terms = { lane: 'claims' as const, withinMs: this.#maxTtlMs };
    const { moment, rows } = await this.#table.read([...names], terms);
    const [now, asked] = [moment.now / 1000, new Set(ids)];
    const living = rows.flatMap((row) => {
      const { queue } = crowdOf(row, moment);
      const own = [...queue.claims].filter(({ id, expiresAt }) => asked.has(id) && expiresAt > now);
      return own.map((entry) => [entry.id, queue.statusOf(entry, now)] as const);
    });
    return new Map(living);
  }
}
