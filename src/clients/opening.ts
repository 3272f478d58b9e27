/**
 * Opening wires, one after the other, with a pause after each failure. A server of another kind, or
 * with TLS on one side only, mostly says nothing or hangs up, as one behind a firewall does: until
 * a source has opened a wire, its errors ask about that.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { StoreError } from '../contract/errors.ts';
import { abortable, limited } from './abortable.ts';
import { countConnection } from './counted.ts';
import type { Judgement, Source, Wire, WireTerms } from './wire.ts';

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
  readonly ready: (wire: W) => Promise<unknown>;
}

/** Sources that have opened a wire. */
const met = new WeakSet<object>();

export class Opening<W extends Wire> {
  readonly #source: Source<W>;
  readonly #terms: OpeningTerms<W>;
  #failures = 0;
  #cause: unknown;
  #counted = false;
  /** Since the last attempt began. */
  #moved = false;

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
      met.add(this.#source);
      if (!this.#counted && this.#source.place) countConnection(this.#source.place, closing);
      this.#counted = true;
      return opened;
    } catch (cause) {
      this.#failures++;
      this.#cause = cause;
      throw cause;
    }
  }

  /** The server may have changed, so the wire that is on its way, if any, is opened anew. */
  move(): void {
    this.#moved = true;
  }

  judge(cause: unknown, during: 'open' | 'call'): Judgement {
    const judgement = this.#source.judge(cause, during);
    if (met.has(this.#source)) return judgement;
    return { ...judgement, error: asked(judgement, this.#source.question) };
  }

  async #attempt(): Promise<OpenedWire<W>> {
    const { closing, received, ready } = this.#terms;
    const over = new AbortController();
    this.#moved = false;
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
    if (!this.#moved) return { wire, over: over.signal };
    wire.close();
    return this.#attempt();
  }

  #pause(): number {
    const ms = this.#source.pause?.(this.#failures, this.#cause);
    if (ms === undefined) return pauseAfter(this.#failures);
    return Math.max(SHORTEST_PAUSE_MS, Math.min(ms, LONGEST_PAUSE_MS));
  }
}

/** The error, with the question if the server has said nothing. */
export function asked({ error, mute }: Judgement, question: string | undefined): StoreError {
  const { message, cause, retryable, outcome } = error;
  if (!mute || question === undefined) return error;
  return new StoreError(`${message} ${question}`, { cause, retryable, outcome });
}

/** In random order, so that clients spread over the servers. */
export function shuffled<T>(items: readonly T[]): T[] {
  const order = items.map((item) => ({ item, at: Math.random() }));
  return order.sort((a, b) => a.at - b.at).map(({ item }) => item);
}

/** By chance, so that connections do not all come back at the same moment. In ms. */
export function pauseAfter(failures: number): number {
  const ms = Math.min(SHORTEST_PAUSE_MS * 2 ** failures, LONGEST_PAUSE_MS);
  return ms * (0.5 + Math.random() / 2);
}
