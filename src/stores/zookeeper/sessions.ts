/**
 * The sessions of a process: one for each length of claims (kept-session.ts), and one to list all
 * names, because a list may be longer than a connection can take.
 */
import { Answer } from '../../base/answer.ts';
import { ClosedError } from '../../contract/errors.ts';
import { KeptSession, LONGER, type SessionParts } from './kept-session.ts';

/** Claims with ttls of nearly the same length share a session. */
const STEP_MS = 500;
/** The ttl of a session that only looks at queues. */
const LOOKING_TTL_MS = 10_000;

export class Sessions {
  readonly #parts: SessionParts;
  /** By their timeouts; one of a single claim, by itself. */
  readonly #byKey = new Map<number | 'listing' | KeptSession, KeptSession>();
  #closed = false;
  /** The servers' lineage by their last reply: they may have lost their data since. */
  lineage: string | undefined;

  constructor(parts: SessionParts) {
    this.#parts = parts;
  }

  /** One for a new claim, with its whole life. */
  lend(ttlMs: number): Answer<KeptSession> {
    return Answer.of<KeptSession>(() => {
      const kept = this.of(ttlMs);
      if (!kept.atHand) return kept.ready().then(() => this.#connected(kept));
      this.lineage = kept.lineage;
      return kept;
    });
  }

  /** One to look through, of any age. */
  async any(): Promise<KeptSession> {
    const known = [...this.#byKey].find(([key, kept]) => {
      return typeof key === 'number' && !kept.over && !kept.silent;
    });
    return this.#connected(known?.[1] ?? this.of(LOOKING_TTL_MS));
  }

  /** One for lists of all names. */
  async listing(): Promise<KeptSession> {
    return this.#connected(this.of(LOOKING_TTL_MS, 'listing'));
  }

  /** One for a claim that ends after so long, even if this process dies first. */
  async apart(ms: number): Promise<KeptSession> {
    const kept = new KeptSession(this.#parts, Math.ceil(ms), this.#end);
    this.#byKey.set(kept, kept);
    await kept.connected();
    return kept;
  }

  /** The session for this length, ready or not. */
  of(ttlMs: number, apart?: 'listing'): KeptSession {
    if (this.#closed) throw new ClosedError('This store is closed');
    const askedMs = Math.ceil((ttlMs * LONGER) / STEP_MS) * STEP_MS;
    const key = apart ?? askedMs;
    let kept = this.#byKey.get(key);
    if (!kept || kept.over) {
      kept = new KeptSession(this.#parts, askedMs, this.#end);
      this.#byKey.set(key, kept);
    }
    kept.use();
    return kept;
  }

  close(): void {
    this.#closed = true;
    for (const kept of this.#byKey.values()) kept.end();
    this.#byKey.clear();
  }

  async #connected(kept: KeptSession): Promise<KeptSession> {
    await kept.connected();
    this.lineage = kept.lineage;
    return kept;
  }

  readonly #end = (kept: KeptSession): void => {
    for (const [key, each] of this.#byKey) if (each === kept) this.#byKey.delete(key);
    kept.end();
  };
}
