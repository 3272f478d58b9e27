/** The terms of a claim, as JSON. Any other text is that of another program. */
import type { GoneStatus, Holder, Traits } from '../../contract/store.ts';

/** Of a store whose queues are those of `QueueView`, and whose claims live with a session. */
export const CONSENSUS: Omit<Traits, 'tokens'> = {
  queue: true,
  permits: true,
  liveness: 'session',
  clock: 'server',
  failover: 'linearizable',
  reach: 'network',
  records: true,
  replaces: true,
  sequential: true,
  hintsGrant: true,
};

/** Attempts, when others keep changing the same claim or record. */
export const MOST_TRIES = 8;

export const SEALS = ['unknown', 'evicted', 'handed-over', 'resumed'] as const;

/** Why a claim takes no more heartbeats. */
export interface Seal {
  readonly sealed: (typeof SEALS)[number];
  readonly detail?: string | undefined;
  /** For how long it stays, in ms; default its ttl. */
  readonly lasts?: number | undefined;
}

export interface PlaceTerms extends Partial<Seal> {
  readonly ttl: number;
  readonly holder: Holder;
}

/** A claim as far as its text tells of it. */
export interface PlaceLife {
  /** Undefined: not known. */
  readonly ttlMs: number | undefined;
  /** For how long it stays without heartbeats; undefined: not known. */
  readonly lastsMs: number | undefined;
  readonly holder: Holder;
  readonly sealed: GoneStatus | undefined;
}

/** Undefined unless the text has a holder, and these as numbers. */
export function termsIn<T extends PlaceTerms>(
  text: string,
  numbers: readonly (keyof T)[],
): T | undefined {
  try {
    const terms = JSON.parse(text) as T | null;
    const whole = numbers.every((name) => Number.isFinite(terms?.[name]));
    return whole && typeof terms?.holder?.host === 'string' ? terms : undefined;
  } catch {
    return undefined;
  }
}

export function lifeOf({ ttl, holder, sealed, detail, lasts = ttl }: PlaceTerms): PlaceLife {
  const gone = sealed && ({ state: 'gone', why: sealed, detail } as const);
  return { ttlMs: ttl, lastsMs: lasts, holder, sealed: gone };
}

export function foreignLife(holder: Holder): PlaceLife {
  return { ttlMs: undefined, lastsMs: undefined, holder, sealed: undefined };
}
