/** A store's way to its database. */
import type { Ear } from '../wakes.ts';
import { Session } from './session.ts';
import type { Routine, Source } from './wire.ts';

/**
 * Heartbeats, releases and messages must not wait for a claim that waits for a lock. A release uses
 * the session of the claims while that is idle, because the session just used is the quicker one;
 * by then its own claim has been answered, or given up.
 */
export type Lane = 'claims' | 'heartbeats' | 'releases';

export interface CallTerms {
  readonly lane: Lane;
  /** The call fails if it has not been sent by then, in ms. */
  readonly withinMs?: number | undefined;
}

export type Aside = Pick<Session, 'call' | 'close'>;

export interface SqlLink extends Ear {
  /**
   * Calls a routine, on connections of our own. Never sends it again once it may have run.
   * @throws StoreError, also for what the database refuses.
   */
  call(routine: Routine, args: readonly string[], terms: CallTerms): Promise<readonly string[]>;
  /** A session of its own, for long work; the caller closes it. */
  aside(): Aside;
  /** False if no message ever comes, so that callers must ask. Known at once when connected. */
  hears(): boolean | Promise<boolean>;
  close(): Promise<void>;
}

/** Two sessions, and those aside; the first call of each opens it. */
export function linkOf(source: Source): SqlLink {
  const sessions = { claims: new Session(source), heartbeats: new Session(source) };
  const asides = new Set<Session>();
  return {
    call(routine, args, { lane, withinMs }) {
      const { claims, heartbeats } = sessions;
      const withClaims = lane === 'claims' || (lane === 'releases' && claims.idle);
      return (withClaims ? claims : heartbeats).call(routine, args, withinMs);
    },
    aside() {
      const session = new Session(source);
      asides.add(session);
      const close = (): void => {
        asides.delete(session);
        session.close();
      };
      return { call: (routine, args) => session.call(routine, args), close };
    },
    hears: () => sessions.heartbeats.hears(),
    listen: (channel, received, resumed) =>
      sessions.heartbeats.listen({ channel, received, resumed }),
    close: async () => {
      sessions.claims.close();
      sessions.heartbeats.close();
      for (const session of asides) session.close();
    },
  };
}
