/**
 * The memory of this process for the claims that it has released: the status for a late copy, as
 * long as the claim could have lived. Enough where no copy can come from outside of the process.
 */
import type { Clock } from '../base/clock.ts';
import { UNKNOWN } from '../contract/gone.ts';
import type { GoneStatus } from '../contract/store.ts';

const SWEEP_MS = 60_000;

export class OwnTombstones {
  readonly #clock: Clock;
  readonly #byId = new Map<string, { readonly status: GoneStatus; readonly until: number }>();
  #sweepAt = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  bury(id: string, ms: number, status: GoneStatus = UNKNOWN): void {
    const now = this.#clock.now();
    if (now >= this.#sweepAt) {
      this.#sweepAt = now + SWEEP_MS;
      for (const [each, { until }] of this.#byId) if (until <= now) this.#byId.delete(each);
    }
    this.#byId.set(id, { status, until: now + ms });
  }

  find(id: string): GoneStatus | undefined {
    const tombstone = this.#byId.get(id);
    return tombstone && tombstone.until > this.#clock.now() ? tombstone.status : undefined;
  }
}
