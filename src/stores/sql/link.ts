/** A store's way to its database. */
import type { Answer } from '../../base/answer.ts';
import { KeptConnection } from '../../clients/kept-connection.ts';
import type { MessageSource, Source, Wire } from '../../clients/wire.ts';

/** What a store in a database needs of a connection. */
export interface SqlWire extends Wire {
  /**
   * Sends the statement of that name, each a transaction of its own unless it says otherwise;
   * resolves with the first column of its rows.
   */
  call(statement: string, args: readonly string[]): Promise<readonly string[]>;
}

/** The prefix of the names of all channels; the address of a process follows. */
export const CHANNEL = 'holdfast_';

/** The message of a server that sends none: the statement `look` may find wakes. */
export const LOOK = '';

export interface SqlSource extends Source<SqlWire>, Pick<MessageSource, 'own'> {}

export const SQL_SERVER: Pick<SqlSource, 'server' | 'silenceMs' | 'atOnce'> = {
  server: 'the database',
  // Longer than any statement waits for a lock.
  silenceMs: 3000,
  atOnce: 1,
};

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

export interface SqlLink extends MessageSource {
  /**
   * Sends a statement, on connections of our own. Never sends it again once it may have run.
   * @throws StoreError, also for what the database refuses.
   */
  call(statement: string, args: readonly string[], terms: CallTerms): Answer<readonly string[]>;
  /** Makes several calls on one session, with no other between them, as `call` does one. */
  exchange<T>(work: (wire: SqlWire) => Promise<T>, terms: CallTerms): Answer<T>;
  /** A session of its own, for long work; the caller closes it. */
  aside(): Pick<SqlWire, 'call' | 'close'>;
  /** False if no message ever comes, so that callers must ask. Known at once when connected. */
  sendsWakes(): boolean | Promise<boolean>;
  close(): Promise<void>;
}

/** Two sessions, and those aside; the first call of each opens it. */
export function linkOf(source: SqlSource): SqlLink {
  const claims = new KeptConnection(source);
  const heartbeats = new KeptConnection(source);
  const asides = new Set<KeptConnection<SqlWire>>();
  const exchange: SqlLink['exchange'] = (work, { lane, withinMs }) => {
    const withClaims = lane === 'claims' || (lane === 'releases' && claims.idle);
    return (withClaims ? claims : heartbeats).ask(work, { withinMs });
  };
  return {
    own: source.own,
    call: (statement, args, terms) => exchange((wire) => wire.call(statement, args), terms),
    exchange,
    aside() {
      const session = new KeptConnection(source);
      asides.add(session);
      return {
        call: (statement, args) => session.ask((wire) => wire.call(statement, args)),
        close() {
          asides.delete(session);
          session.close();
        },
      };
    },
    sendsWakes() {
      const sends = (wire: SqlWire): boolean => wire.listen !== undefined;
      return heartbeats.wire ? sends(heartbeats.wire) : heartbeats.ask(async (wire) => sends(wire));
    },
    listen(channel, deliver, resumed) {
      let looks = false;
      const look = (): void => {
        if (looks) return;
        looks = true;
        const request = heartbeats.ask((wire) => {
          // A message from now on may be about a wake that this look does not see.
          looks = false;
          return wire.call('look', []);
        });
        // Another message comes within a second.
        request.catch(() => {
          looks = false;
        });
      };
      // Where others may send messages, none of them makes this process look.
      const received = (message: string): void =>
        source.own && message === LOOK ? look() : deliver(message);
      return heartbeats.listen({ channel, received, resumed });
    },
    close: async () => {
      for (const session of [claims, heartbeats, ...asides]) session.close();
    },
  };
}
