import type { Clock } from '../../base/clock.ts';
import type { Claim, GoneStatus } from '../../contract/store.ts';

/** The replies to late copies of claims that have left, kept for one TTL each. */
export class Tombstones {
  readonly #clock: Clock;
  readonly #byId = new Map<string, { readonly status: GoneStatus; readonly until: number }>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  bury({ id, ttlMs }: Pick<Claim, 'id' | 'ttlMs'>, status: GoneStatus): void {
    const now = this.#clock.now();
    for (const [other, { until }] of this.#byId) {
      if (until > now) break;
      this.#byId.delete(other);
    }
    this.#byId.set(id, { status, until: now + ttlMs });
  }

  find(id: string): GoneStatus | undefined {
    const tombstone = this.#byId.get(id);
    return tombstone && tombstone.until > this.#clock.now() ? tombstone.status : undefined;
  }

  clear(): void {
    this.#byId.clear();
  }
}
