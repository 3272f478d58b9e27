/** The way of a store to its database. */
import type { Ear } from '../wakes.ts';
import { Session } from './session.ts';
import type { Routine, Source } from './wire.ts';

/** Heartbeats, releases and messages must not wait for a claim that waits for a lock. */
export type Lane = 'claims' | 'heartbeats';

export interface SqlLink extends Ear {
  /**
   * Calls a routine, on connections of our own. Never sent again once it may have been carried out.
   * @throws StoreError, also for what the database refuses.
   */
  call(routine: Routine, args: readonly string[], lane: Lane): Promise<readonly string[]>;
  /** False: no message ever comes, so ask. */
  hears(): Promise<boolean>;
  close(): Promise<void>;
}

/** Two sessions; the first call of each opens it. */
export function linkOf(source: Source): SqlLink {
  const sessions = { claims: new Session(source), heartbeats: new Session(source) };
  return {
    call: (routine, args, lane) => sessions[lane].call(routine, args),
    hears: () => sessions.heartbeats.hears(),
    listen: (channel, received, resumed) =>
      sessions.heartbeats.listen({ channel, received, resumed }),
    close: async () => {
      sessions.claims.close();
      sessions.heartbeats.close();
    },
  };
}
