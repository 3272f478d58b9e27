/**
 * What the store asks of its tables, as statements of one session: which statement does what, and
 * what its reply means. Heartbeats never wait for a row; a statement that takes or frees one does,
 * in line (requests.ts). Claims that are concerned are woken after the commit.
 */
import { execute, type MysqlSession } from '../../clients/mysql/connection.ts';
import { columnOf, type TextRow } from '../../clients/sql/session.ts';
import { Batches, secondBy } from './batches.ts';
import { CommittedWakes } from './committed-wakes.ts';
import type { MysqlTables } from './fragments.ts';
import { isDue, type KnownHistory, settle } from './history.ts';
import {
  type Args,
  anyValues,
  beat,
  freeValues,
  leaveAny,
  leaveFree,
  takeAny,
  takeFree,
  takenIn,
  WORDS,
} from './holding.ts';
import { type Common, Requests, type SessionCall } from './requests.ts';
import {
  AFTER_LOCK,
  heldOf,
  keep,
  lockRows,
  names,
  type RowWake,
  type RowWrite,
  raiseHighest,
  read,
  recall,
  sweep,
  write,
  writtenIn,
} from './statements.ts';

/** What the table says of each claim that is to take a row. */
const TERMS = 10;

export class Verbs {
  readonly #connection: MysqlSession;
  readonly #common: Common;
  readonly #requests: Requests;
  readonly #wakes: CommittedWakes;
  readonly #batches: Batches;
  #known: KnownHistory;

  constructor(connection: MysqlSession, common: Common, known: KnownHistory) {
    this.#connection = connection;
    this.#common = common;
    this.#known = known;
    this.#requests = new Requests(connection, common);
    this.#wakes = new CommittedWakes(this.#requests, common);
    this.#batches = new Batches(common.tables, this.#requests);
  }

  /** Resolves with the first column of the rows; a statement that there is not finds nothing. */
  call(statement: string, args: Args): Promise<Args> {
    return this.#asks[statement]?.(args) ?? Promise.resolve([]);
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
      const [, done, held] = await this.#requests.query(
        `${text};\n${heldOf(this.#tables, name, id)}`,
      );
      return isDone(done) && held ? [String(held[0])] : [];
    },
    leave_free: async (args) => {
      const [name = '', id = ''] = args;
      const text = leaveFree(this.#tables);
      const [done] = await this.#requests.inLine(name, (session) => execute(session, text, args));
      return isDone(done) ? [id] : [];
    },
    leave_all: (lists) => this.#batches.leave(claimsIn(lists)),
    leave: async (args) => {
      const [name = '', id = ''] = args;
      const text = leaveAny(this.#tables, this.#known);
      const own = this.#common.wakeSession?.address ?? '-';
      const [done] = await this.#requests.inLine(name, (session) =>
        execute(session, text, [own, name, id]),
      );
      if (!isDone(done)) return [];
      this.#wakes.next(Number(done?.[0]), name);
      return [id];
    },
    read: async ([list = '[]']) => columnOf(await this.#read(read, list)),
    lock: async ([list = '[]']) => columnOf((await this.#read(lockRows, list)).slice(5)),
    settle: async () => {
      const { tables, maxTtlMs } = this.#common;
      this.#known = await settle(this.#connection, tables, maxTtlMs);
      return [];
    },
    write: (args) => this.#write(args, (text) => this.#requests.transact(text)),
    write_all: (args) => this.#write(args, (text) => this.#requests.transact(text)),
    write_locked: (args) =>
      this.#write(args, (text) => this.#requests.query(`DO 0;\n${text};\nCOMMIT;\n${AFTER_LOCK}`)),
    rollback: async () => columnOf(await this.#requests.query(`ROLLBACK;\n${AFTER_LOCK}`)),
    keep: async (args) =>
      columnOf(await this.#requests.transact(keep(this.#tables, args))).slice(4, -1),
    recall: async (args) => columnOf(await this.#requests.query(recall(this.#tables, args))),
    names: async (args) => columnOf(await this.#requests.query(names(this.#tables, args))),
    raise_highest: async (args) =>
      columnOf(await this.#requests.query(raiseHighest(this.#tables, args))),
    look: async () => {
      await this.#common.wakeSession?.look(this.#connection);
      return [];
    },
    sweep: async (args) => columnOf(await this.#requests.query(sweep(this.#tables, args))).slice(5),
  };

  get #tables(): MysqlTables {
    return this.#common.tables;
  }

  #takeFree(args: Args): Promise<Args> {
    const text = takeFree(this.#tables, this.#known);
    return this.#take(args, (session) => execute(session, text, freeValues(args)));
  }

  async #take(args: Args, ask: SessionCall): Promise<Args> {
    const [name = '', id = ''] = args;
    const [due, at] = [isDue(this.#known), performance.now()];
    const [done] = await this.#requests.inLine(name, ask, secondBy([args]));
    const taken = takenIn(Number(done?.[0] ?? 0));
    if (!taken) return [];
    if (due) this.#known.seenAt = at;
    const { number, ahead, leftMs } = taken;
    if (ahead === 1) this.#wakes.holder(name);
    return [`${ahead === 0 ? id : '-'} ${number} ${ahead} ${leftMs * 1000} - 0 ${name}`];
  }

  #read(textOf: typeof read, list: string): Promise<readonly TextRow[]> {
    return this.#requests.query(textOf(this.#tables, JSON.parse(list) as Args, this.#known));
  }

  async #write(args: Args, ask: (text: string) => Promise<readonly TextRow[]>): Promise<Args> {
    const [rows, wakes] = args.map((text) => JSON.parse(text)) as [RowWrite[], RowWake[]];
    const done = await ask(write(this.#tables, rows, this.#wakes.others(wakes)));
    const written = writtenIn(rows, done.slice(1));
    this.#wakes.all(wakes.filter(({ name }) => written.includes(name)));
    return written;
  }
}

/** By the number of the insert. */
function isDone(row: TextRow | undefined): boolean {
  return row !== undefined && row[0] !== '0';
}

/** The claims, each with what the lists say of it. */
function claimsIn(lists: Args): Args[] {
  const [names = [], ...more] = lists.map((list) => JSON.parse(list) as Args);
  return names.map((name, n) => [name, ...more.map((list) => list[n] ?? '')]);
}
