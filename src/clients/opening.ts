/** Opening wires, one after the other, with a pause after each failure. */
import { setTimeout as sleep } from 'node:timers/promises';
import { abortable, limited } from './abortable.ts';
import type { Source, Wire, WireTerms } from './wire.ts';

/** How long an attempt to connect may take, whatever the client's own time-out is. */
const ATTEMPT_MS = 5000;
const SHORTEST_PAUSE_MS = 20;
/** A lease has only its TTL. */
const LONGEST_PAUSE_MS = 1000;

export interface OpenedWire<W> {
  readonly wire: W;
  /** Aborted with the reason why the wire is no longer of use, perhaps already. */
  readonly over: AbortSignal;
}

export interface OpeningTerms<W> {
  readonly closing: AbortSignal;
  readonly received: WireTerms['received'];
  /** What to do with a wire before it counts as open. */
  readonly ready: (wire: W) => Promise<unknown>;
}

export class Opening<W extends Wire> {
  readonly #source: Source<W>;
  readonly #terms: OpeningTerms<W>;
  #failures = 0;
  #cause: unknown;

  constructor(source: Source<W>, terms: OpeningTerms<W>) {
    this.#source = source;
    this.#terms = terms;
  }

  /** Rejects with the client package's reason, or that of closing. */
  async next(): Promise<OpenedWire<W>> {
    const { closing } = this.#terms;
    try {
      if (this.#failures > 0) await sleep(this.#pause(), undefined, { signal: closing });
      const opened = await this.#attempt();
      this.#failures = 0;
      return opened;
    } catch (cause) {
      this.#failures++;
      this.#cause = cause;
      throw cause;
    }
  }

  async #attempt(): Promise<OpenedWire<W>> {
    const { closing, received, ready } = this.#terms;
    const over = new AbortController();
    const lost = (cause: unknown): void => over.abort(cause);
    const wire = await limited(ATTEMPT_MS, [closing, over.signal], async (signal) => {
      const opening = this.#source.open({ signal, lost, received });
      try {
        const opened = await abortable(signal, opening);
        await abortable(signal, ready(opened));
        return opened;
      } catch (error) {
        // Also closes a connection that opens too late.
        opening.then((late) => late.close()).catch(() => {});
        throw error;
      }
    });
    return { wire, over: over.signal };
  }

  #pause(): number {
    const ms = this.#source.pause?.(this.#failures, this.#cause);
    if (ms === undefined) return pauseAfter(this.#failures);
    return Math.max(SHORTEST_PAUSE_MS, Math.min(ms, LONGEST_PAUSE_MS));
  }
}

/** By chance, so that connections do not all come back at the same moment. In ms. */
export function pauseAfter(failures: number): number {
  const ms = Math.min(SHORTEST_PAUSE_MS * 2 ** failures, LONGEST_PAUSE_MS);
  return ms * (0.5 + Math.random() / 2);
}
