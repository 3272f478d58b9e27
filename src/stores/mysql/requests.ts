/**
 * How the store uses a session: each request is one round trip.
 *
 * Invariant: a reply comes after the commit, and a request that fails leaves no transaction open.
 * A statement that takes or frees one row waits in line for it, for a second at most, which is the
 * least that the server can be told; after that, none waits for this row for a while. A deadlock
 * has rolled everything back, so that another try does nothing twice.
 * What would break it: a heartbeat that waits for a row, since all heartbeats of the process share
 * a session.
 */
import { Answer } from '../../base/answer.ts';
import type { MysqlSession } from '../../clients/mysql/connection.ts';
import { numberOf } from '../../clients/mysql/errors.ts';
import type { TextRow } from '../../clients/sql/session.ts';
import type { MysqlTables } from './fragments.ts';
import type { WakeSession } from './wake-session.ts';

const TOO_LONG = 1205;
const DEADLOCK = 1213;

/** The store's own statements cannot wait in a circle; with a purge of the server they might. */
const TRIES = 3;

/** How long no statement waits for a row that was locked for too long, in ms. */
const STUCK_MS = 5000;
const MOST_STUCK = 1000;

/** What all sessions of a process share. */
export interface Common {
  readonly tables: MysqlTables;
  readonly maxTtlMs: number;
  /** Names, and until when they are asked about only in ways that do not wait. */
  readonly stuck: Map<string, number>;
  wakeSession?: WakeSession | undefined;
}

export type SessionCall = (session: MysqlSession) => Promise<readonly TextRow[]>;

export class Requests {
  readonly #session: MysqlSession;
  readonly #common: Common;

  constructor(session: MysqlSession, common: Common) {
    this.#session = session;
    this.#common = common;
  }

  query(text: string, by?: number): Promise<readonly TextRow[]> {
    return this.#again((session) => session.query(text), by);
  }

  /** As one transaction, again if that was lost to a deadlock before this time. */
  async transact(text: string, by?: number): Promise<readonly TextRow[]> {
    try {
      return await this.query(`START TRANSACTION;\n${text};\nCOMMIT`, by);
    } catch (error) {
      await this.#session.query('ROLLBACK');
      throw error;
    }
  }

  /** Asks about one row, in line for it, unless that was in vain a moment ago. */
  inLine(name: string, ask: SessionCall, by?: number): Answer<readonly TextRow[]> {
    const { stuck } = this.#common;
    if ((stuck.get(name) ?? 0) > performance.now()) return Answer.of(() => []);
    return this.#again(ask, by).or((error) => {
      if (numberOf(error) === TOO_LONG) {
        if (stuck.size >= MOST_STUCK) stuck.clear();
        stuck.set(name, performance.now() + STUCK_MS);
      }
      return Promise.reject(error);
    });
  }

  #again(
    ask: SessionCall,
    by = Number.POSITIVE_INFINITY,
    tries = TRIES,
  ): Answer<readonly TextRow[]> {
    return Answer.from(ask(this.#session)).or((error) => {
      const repeats = tries > 1 && numberOf(error) === DEADLOCK && performance.now() < by;
      return repeats ? this.#again(ask, by, tries - 1) : Promise.reject(error);
    });
  }
}
