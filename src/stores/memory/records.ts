import type { Clock } from '../../base/clock.ts';
import type { Kept } from '../../contract/records.ts';

/** Records of finished work, each kept for its own time. */
export class Records {
  readonly #clock: Clock;
  readonly #byResource = new Map<string, { readonly text: string; readonly until: number }>();
  #sweepAt = 64;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  keep(resource: string, { text, ms }: { readonly text: string; readonly ms: number }): void {
    this.#byResource.delete(resource);
    if (ms <= 0) return;
    this.#byResource.set(resource, { text, until: this.#clock.now() + ms });
    if (this.#byResource.size >= this.#sweepAt) this.#sweep();
  }

  recall(resource: string): Kept | undefined {
    const { text, until = 0 } = this.#byResource.get(resource) ?? {};
    const leftMs = until - this.#clock.now();
    return text !== undefined && leftMs > 0 ? { text, leftMs } : undefined;
  }

  clear(): void {
    this.#byResource.clear();
  }

  /** Looks at no more than twice as many records as were kept since the last sweep. */
  #sweep(): void {
    const now = this.#clock.now();
    for (const [resource, { until }] of this.#byResource) {
      if (until <= now) this.#byResource.delete(resource);
    }
    this.#sweepAt = Math.max(64, 2 * this.#byResource.size);
  }
}
