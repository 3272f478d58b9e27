/**
 * What the store asks of its tables, as statements of one session; each request is one round trip.
 *
 * Invariant: a reply comes after the commit, and a request that fails leaves no transaction open.
 * A statement that takes or frees one row waits in line for it, for a second at most, the least
 * that the server accepts; after that, none waits for this row for a while. Heartbeats never wait
 * for a row, since all of the process share a session. The claims concerned are woken after the
 * commit.
 */
import { type Connection, execute } from '../../clients/mysql/connection.ts';
import { numberOf } from '../../clients/mysql/errors.ts';
import { columnOf, type Row } from '../../clients/sql/session.ts';
import { Batches, secondBy } from './batches.ts';
import { type Bell, ring, sessionOf } from './bell.ts';
import type { Tables } from './fragments.ts';
import { isDue, type Known, settle } from './history.ts';
import {
  type Args,
  anyValues,
  beat,
  freeValues,
  leaveAny,
  leaveFree,
  NEXT,
  takeAny,
  takeFree,
  takenIn,
  WORDS,
} from './holding.ts';
import {
  AFTER_LOCK,
  heldOf,
  holderOf,
  keep,
  lockRows,
  type News,
  names,
  nextOf,
  raiseHighest,
  read,
  recall,
  sweep,
  type Write,
  write,
  writtenIn,
} from './statements.ts';

const TOO_LONG = 1205;
const DEADLOCK = 1213;

/** The store's own statements cannot wait in a circle; with a purge of the server they might. */
const TRIES = 3;

/** What the table says of each claim that is to take a row. */
const TERMS = 10;

/** How long no statement waits for a row that was locked for too long, in ms. */
const STUCK_MS = 5000;
const MOST_STUCK = 1000;

/** What all sessions of a process share. */
export interface Common {
  readonly tables: Tables;
  readonly maxTtlMs: number;
  /** Until when names are asked about only in ways that do not wait. */
  readonly stuck: Map<string, number>;
  bell?: Bell | undefined;
}

type Ask = (session: Connection) => Promise<readonly Row[]>;

export class Verbs {
  readonly #connection: Connection;
  readonly #common: Common;
  readonly #batches: Batches;
  #known: Known;

  constructor(connection: Connection, common: Common, known: Known) {
    this.#connection = connection;
    this.#common = common;
    this.#known = known;
    this.#batches = new Batches(common.tables, (text, by) => this.#transact(text, by));
  }

  /** Resolves with the first column of the rows; a statement that there is not finds nothing. */
  async call(statement: string, args: Args): Promise<Args> {
    const ask = this.#asks[statement];
    return ask ? ask(args) : [];
  }

  readonly #asks: Readonly<Record<string, (args: Args) => Promise<Args>>> = {
    take_free: (args) => this.#takeFree(args),
    // Several claims of one lock are one step of the queue.
    take: async (args) => {
      const [first = [], ...more] = claimsIn(args.slice(0, TERMS));
      if (more.length > 0) return [];
      const terms = [...first.map(String), ...args.slice(TERMS)];
      const [, , , , , , , , queue] = terms;
      if (queue !== 'true') return this.#takeFree(terms);
      const text = takeAny(this.#tables, terms[13] ?? '', this.#known);
      return this.#take(terms, (session) => execute(session, text, anyValues(terms)));
    },
    take_all: (args) => this.#batches.take(claimsIn(args.slice(0, WORDS.length)), this.#known),
    beat: async (lists) => {
      const claims = claimsIn(lists);
      if (claims.length > 1) return this.#batches.beat(claims);
      const [name = '', id = '', ttl = ''] = (claims[0] ?? []).map(String);
      const text = beat(this.#tables, [name, id, ttl]);
      const [, done, held] = await this.#query(`${text};\n${heldOf(this.#tables, name, id)}`);
      return isDone(done) && held ? [String(held[0])] : [];
    },
    leave_free: async (args) => {
      const [name = '', id = ''] = args;
      const text = leaveFree(this.#tables);
      const [done] = await this.#inLine(name, (session) => execute(session, text, args));
      return isDone(done) ? [id] : [];
    },
    leave_all: (lists) => this.#batches.leave(claimsIn(lists)),
    leave: async (args) => {
      const [name = '', id = ''] = args;
      const text = leaveAny(this.#tables, this.#known);
      const own = this.#common.bell?.address ?? '-';
      const [done] = await this.#inLine(name, (session) => execute(session, text, [own, name, id]));
      if (!isDone(done)) return [];
      const next = Number(done?.[0]);
      if (next > NEXT.deaf) this.#ring(String(next - NEXT.deaf));
      if (next === NEXT.own) this.#say(this.#tellOwn(name));
      // A session that begins to wait has no name for a moment. After the commit, it has one, or it
      // will find the news by its own look.
      if (next === NEXT.deaf) this.#say(this.#tellHolder(name));
      return [id];
    },
    read: async ([list = '[]']) => columnOf(await this.#read(read, list)),
    lock: async ([list = '[]']) => columnOf((await this.#read(lockRows, list)).slice(3)),
    settle: async () => {
      const { tables, maxTtlMs } = this.#common;
      this.#known = await settle(this.#connection, tables, maxTtlMs);
      return [];
    },
    write: (args) => this.#write(args, (text) => this.#transact(text)),
    write_all: (args) => this.#write(args, (text) => this.#transact(text)),
    write_locked: (args) =>
      this.#write(args, (text) => this.#query(`DO 0;\n${text};\nCOMMIT;\n${AFTER_LOCK}`)),
    rollback: async () => columnOf(await this.#query(`ROLLBACK;\n${AFTER_LOCK}`)),
    keep: async (args) => columnOf(await this.#transact(keep(this.#tables, args))).slice(4, -1),
    recall: async (args) => columnOf(await this.#query(recall(this.#tables, args))),
    names: async (args) => columnOf(await this.#query(names(this.#tables, args))),
    raise_highest: async (args) => columnOf(await this.#query(raiseHighest(this.#tables, args))),
    look: async () => {
      await this.#common.bell?.look(this.#connection);
      return [];
    },
    sweep: async (args) => columnOf(await this.#query(sweep(this.#tables, args))).slice(5),
  };

  get #tables(): Tables {
    return this.#common.tables;
  }

  #takeFree(args: Args): Promise<Args> {
    const text = takeFree(this.#tables, this.#known);
    return this.#take(args, (session) => execute(session, text, freeValues(args)));
  }

  async #take(args: Args, ask: Ask): Promise<Args> {
    const [name = '', id = ''] = args;
    const [due, at] = [isDue(this.#known), performance.now()];
    const [done] = await this.#inLine(name, ask, secondBy([args]));
    const taken = takenIn(Number(done?.[0] ?? 0));
    if (!taken) return [];
    if (due) this.#known.seenAt = at;
    const { number, ahead, leftMs } = taken;
    if (ahead === 1) this.#say(this.#tellHolder(name));
    return [`${ahead === 0 ? id : '-'} ${number} ${ahead} ${leftMs * 1000} - 0 ${name}`];
  }

  #read(textOf: typeof read, list: string): Promise<readonly Row[]> {
    return this.#query(textOf(this.#tables, JSON.parse(list) as Args, this.#known));
  }

  async #write(args: Args, ask: (text: string) => Promise<readonly Row[]>): Promise<Args> {
    const [rows, news] = args.map((text) => JSON.parse(text)) as [Write[], News[]];
    const { bell } = this.#common;
    const [own, others] = [true, false].map((is) =>
      news.filter(({ address }) => (address === bell?.address) === is),
    ) as [News[], News[]];
    const done = await ask(write(this.#tables, rows, others));
    const written = writtenIn(rows, done.slice(1));
    const told = (each: News): boolean => written.includes(each.name);
    for (const { message } of own.filter(told)) bell?.tell(message);
    for (const address of new Set(others.filter(told).map((each) => each.address))) {
      this.#ring(sessionOf(address));
    }
    return written;
  }

  /** What the row says of the claims of this process that hold or wait first. */
  async #tellOwn(name: string): Promise<void> {
    const told = [holderOf(this.#tables, name), nextOf(this.#tables, name)].join(' UNION ALL ');
    for (const row of await this.#query(told)) this.#tell(row, () => {});
  }

  /** A process that has no session for news finds them when it looks. */
  async #tellHolder(name: string): Promise<void> {
    for (const row of await this.#query(holderOf(this.#tables, name))) {
      this.#tell(row, (address) => this.#ring(sessionOf(address)));
    }
  }

  #tell(row: Row, others: (address: string) => void): void {
    const { bell } = this.#common;
    const [address = '', ...words] = String(row[0]).split(' ');
    if (address === bell?.address) bell.news(words.join(' '));
    else others(address);
  }

  #ring(session: string): void {
    this.#say(ring(this.#connection, session));
  }

  /** Nothing depends on what is said: a connection that breaks says so to the next request too. */
  #say(saying: Promise<void>): void {
    saying.catch(() => {});
  }

  /** Asks about one row, in line for it, unless that was in vain a moment ago. */
  async #inLine(name: string, ask: Ask, by?: number): Promise<readonly Row[]> {
    const { stuck } = this.#common;
    if ((stuck.get(name) ?? 0) > performance.now()) return [];
    try {
      return await this.#again(ask, by);
    } catch (error) {
      if (numberOf(error) === TOO_LONG) {
        if (stuck.size >= MOST_STUCK) stuck.clear();
        stuck.set(name, performance.now() + STUCK_MS);
      }
      throw error;
    }
  }

  async #transact(text: string, by?: number): Promise<readonly Row[]> {
    try {
      return await this.#query(`START TRANSACTION;\n${text};\nCOMMIT`, by);
    } catch (error) {
      await this.#connection.query('ROLLBACK');
      throw error;
    }
  }

  #query(text: string, by?: number): Promise<readonly Row[]> {
    return this.#again((session) => session.query(text), by);
  }

  /** A deadlock has rolled everything back, so another try, until then, does nothing twice. */
  async #again(ask: Ask, by = Number.POSITIVE_INFINITY, tries = TRIES): Promise<readonly Row[]> {
    try {
      return await ask(this.#connection);
    } catch (error) {
      const again = numberOf(error) === DEADLOCK && tries > 1 && performance.now() < by;
      if (!again) throw error;
      return this.#again(ask, by, tries - 1);
    }
  }
}

/** By the number of the insert. */
function isDone(row: Row | undefined): boolean {
  return row !== undefined && row[0] !== '0';
}

/** Each with what the lists say of it. */
function claimsIn(lists: Args): Args[] {
  const [names = [], ...more] = lists.map((list) => JSON.parse(list) as Args);
  return names.map((name, n) => [name, ...more.map((list) => list[n] ?? '')]);
}
