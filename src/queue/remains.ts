import type { GoneStatus, Kept } from '../contract/store.ts';
import type { KeptUntil, QueueState, Tombstone, WholeState } from './state.ts';

/** What outlives the claims of a queue: tombstones, and the record of finished work. */
export class Remains {
  readonly #tombstones: Map<string, Tombstone>;
  #record: KeptUntil | undefined;

  constructor({ tombstones, record }: QueueState) {
    this.#tombstones = new Map(tombstones);
    this.#record = record;
  }

  get isBlank(): boolean {
    return !this.#record && this.#tombstones.size === 0;
  }

  get state(): Pick<WholeState, 'tombstones' | 'record'> {
    return { tombstones: this.#tombstones, record: this.#record };
  }

  farewell(id: string, now: number): GoneStatus | undefined {
    const tombstone = this.#tombstones.get(id);
    return tombstone && tombstone.until > now ? tombstone.status : undefined;
  }

  /** Looks at the oldest others only, so that a burial costs no more when there are many. */
  bury(id: string, tombstone: Tombstone, now: number): void {
    for (const [other, { until }] of this.#tombstones) {
      if (until > now) break;
      this.#tombstones.delete(other);
    }
    this.#tombstones.set(id, tombstone);
  }

  /** Replaces the record before. */
  keep(record: KeptUntil | undefined): void {
    this.#record = record;
  }

  recall(now: number): Kept | undefined {
    if (!this.#record || this.#record.until <= now) return undefined;
    return { text: this.#record.text, leftMs: this.#record.until - now };
  }

  /** Drops what is over. */
  tidy(now: number): void {
    if (!this.recall(now)) this.#record = undefined;
    for (const [id, { until }] of this.#tombstones) if (until <= now) this.#tombstones.delete(id);
  }
}
