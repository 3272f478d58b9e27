/**
 * What the store asks of its tables, as statements of one session: which statement does what, and
 * what its reply means. Heartbeats never wait for a row; a statement that takes or frees one does,
 * in line (requests.ts). Claims that are concerned are woken after the commit.
 */
import { Answer } from '../../base/answer.ts';
import { execute, type MysqlSession } from '../../clients/mysql/connection.ts';
import { columnOf, type TextRow } from '../../clients/sql/session.ts';
import { Batches, secondBy } from './batches.ts';
import { CommittedWakes } from './committed-wakes.ts';
import type { MysqlTables } from './fragments.ts';
import { isDue, type KnownHistory, settle } from './history.ts';
import {
  type Args,
  againValues,
  anyValues,
  beat,
  freeValues,
  leaveAny,
  leaveFree,
  type Taken,
  type TextOf,
  takeAgain,
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
  /** Those that do not look at the birth of the table, made once. */
  readonly #texts = new Map<TextOf, string>();
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
    take_free: (args) => this.#takeIf(takeFree, args, freeValues(args)).map(numberIn),
    take_again: (args) => this.#takeIf(takeAgain, args, againValues(args)).map(numberIn),
    take: (args) => {
      const [first = [], ...more] = claimsIn(args.slice(0, TERMS));
      // Several claims of one lock are one step of the queue.
      if (more.length > 0) return Answer.of(() => []);
      const terms = [...first.map(String), ...args.slice(TERMS)];
      const [name = '', id = '', , , , , , , queue] = terms;
      const taking =
        queue === 'true' ? this.#takeAny(terms) : this.#takeIf(takeFree, terms, freeValues(terms));
      return taking.map((taken) => {
        if (!taken) return [];
        const { number, ahead, leftMs } = taken;
        if (ahead === 1) this.#wakes.holder(name);
        return [`${ahead === 0 ? id : '-'} ${number} ${ahead} ${leftMs * 1000} - 0 ${name}`];
      });
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
    leave_free: (args) => {
      const [name = '', id = ''] = args;
      const text = this.#textOf(leaveFree, false);
      const leaving = this.#requests.inLine(name, (session) => execute(session, text, args));
      return leaving.map(([done]) => (isDone(done) ? [id] : []));
    },
    leave_all: (lists) => this.#batches.leave(claimsIn(lists)),
    leave: (args) => {
      const [name = '', id = ''] = args;
      const text = leaveAny(this.#tables, this.#known);
      const own = this.#common.wakeSession?.address ?? '-';
      const leaving = this.#requests.inLine(name, (session) =>
        execute(session, text, [own, name, id]),
      );
      return leaving.map(([done]) => {
        if (!isDone(done)) return [];
        this.#wakes.next(Number(done?.[0]), name);
        return [id];
      });
    },
    read: async ([list = '[]']) => columnOf(await this.#read(read, list)),
    lock: async ([list = '[]']) => columnOf((await this.#read(lockRows, list)).slice(5)),
    settle: async () => {
      const { tables, maxTtlMs } = this.#common;
      this.#known = await settle(this.#connection, tables, maxTtlMs);
      this.#texts.clear();
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

  #takeIf(textOf: TextOf, args: Args, values: Args): Answer<Taken | undefined> {
    const due = isDue(this.#known);
    const text = this.#textOf(textOf, due);
    return this.#take(args, due, (session) => execute(session, text, values));
  }

  #takeAny(args: Args): Answer<Taken | undefined> {
    const due = isDue(this.#known);
    const text = takeAny(this.#tables, args[13] ?? '', this.#known);
    return this.#take(args, due, (session) => execute(session, text, anyValues(args)));
  }

  /** @param due whether the statement looks at the birth of the table. */
  #take(args: Args, due: boolean, ask: SessionCall): Answer<Taken | undefined> {
    const [name = ''] = args;
    const at = performance.now();
    return this.#requests.inLine(name, ask, secondBy([args])).map(([done]) => {
      const taken = takenIn(Number(done?.[0] ?? 0));
      if (taken && due) this.#known.seenAt = at;
      return taken;
    });
  }

  #textOf(make: TextOf, due: boolean): string {
    const made = due ? undefined : this.#texts.get(make);
    if (made !== undefined) return made;
    const text = make(this.#tables, this.#known, due);
    if (!due) this.#texts.set(make, text);
    return text;
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

function numberIn(taken: Taken | undefined): string[] {
  return taken ? [String(taken.number)] : [];
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
