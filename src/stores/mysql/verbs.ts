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
import * as holding from './holding.ts';
import { type Common, Requests, type SessionCall } from './requests.ts';
import * as statements from './statements.ts';

type Args = holding.Args;
const { AFTER_LOCK } = statements;

/** What the table says of each claim that is to take a row. */
const TERMS = 10;

export class Verbs {
  readonly #connection: MysqlSession;
  readonly #common: Common;
  readonly #requests: Requests;
  readonly #wakes: CommittedWakes;
  readonly #batches: Batches;
  /** Those that do not look at the birth of the table, made once. */
  #texts = new WeakMap<holding.TextOf, string>();
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
    take_free: (args) => this.#takeFree(args).map(numberIn),
    take_again: (args) =>
      this.#take(holding.takeAgain, args, holding.againValues(args)).map(numberIn),
    take: (args) => {
      const [first = [], ...more] = claimsIn(args.slice(0, TERMS));
      // Several claims of one lock are one step of the queue.
      if (more.length > 0) return Answer.of(() => []);
      const terms = [...first.map(String), ...args.slice(TERMS)];
      const [name = '', id = '', , , , , , , queue] = terms;
      const any: holding.TextOf = (tables, known) => holding.takeAny(tables, known, terms[13]);
      const taking =
        queue === 'true' ? this.#take(any, terms, holding.anyValues(terms)) : this.#takeFree(terms);
      return taking.map((taken) => {
        if (!taken) return [];
        const { number, ahead, leftMs } = taken;
        if (ahead === 1) this.#wakes.holder(name);
        return [`${ahead === 0 ? id : '-'} ${number} ${ahead} ${leftMs * 1000} - 0 ${name}`];
      });
    },
    take_all: (args) =>
      this.#batches.take(claimsIn(args.slice(0, holding.WORDS.length)), this.#known),
    beat: async (lists) => {
      const claims = claimsIn(lists);
      if (claims.length > 1) return this.#batches.beat(claims);
      const [name = '', id = '', ttl = ''] = (claims[0] ?? []).map(String);
      const text = holding.beat(this.#tables, [name, id, ttl]);
      const held = statements.heldOf(this.#tables, name, id);
      const [, done, still] = await this.#requests.query(`${text};\n${held}`);
      return isDone(done) && still ? [String(still[0])] : [];
    },
    leave_free: (args) => {
      const [name = '', id = ''] = args;
      const text = this.#textOf(holding.leaveFree, false);
      const leaving = this.#requests.inLine(name, (session) => execute(session, text, args));
      return leaving.map(([done]) => (isDone(done) ? [id] : []));
    },
    leave_all: (lists) => this.#batches.leave(claimsIn(lists)),
    leave: (args) => {
      const [name = '', id = ''] = args;
      const text = holding.leaveAny(this.#tables, this.#known);
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
    read: async ([list = '[]']) => columnOf(await this.#read(statements.read, list)),
    lock: async ([list = '[]']) => columnOf((await this.#read(statements.lockRows, list)).slice(3)),
    settle: async () => {
      const { tables, maxTtlMs } = this.#common;
      this.#known = await settle(this.#connection, tables, maxTtlMs);
      this.#texts = new WeakMap();
      return [];
    },
    write: (args) => this.#write(args, (text) => this.#requests.transact(text)),
    write_all: (args) => this.#write(args, (text) => this.#requests.transact(text)),
    write_locked: (args) =>
      this.#write(args, (text) => this.#requests.query(`DO 0;\n${text};\nCOMMIT;\n${AFTER_LOCK}`)),
    rollback: async () => columnOf(await this.#requests.query(`ROLLBACK;\n${AFTER_LOCK}`)),
    keep: async (args) =>
      columnOf(await this.#requests.transact(statements.keep(this.#tables, args))).slice(4, -1),
    recall: (args) => this.#ask(statements.recall, args),
    names: (args) => this.#ask(statements.names, args),
    raise_highest: (args) => this.#ask(statements.raiseHighest, args),
    look: async () => {
      await this.#common.wakeSession?.look(this.#connection);
      return [];
    },
    sweep: async (args) => (await this.#ask(statements.sweep, args)).slice(5),
  };

  get #tables(): MysqlTables {
    return this.#common.tables;
  }

  #takeFree(args: Args): Answer<holding.Taken | undefined> {
    return this.#take(holding.takeFree, args, holding.freeValues(args));
  }

  #take(make: holding.TextOf, args: Args, values: Args): Answer<holding.Taken | undefined> {
    const [name = ''] = args;
    const [due, at] = [isDue(this.#known), performance.now()];
    const text = this.#textOf(make, due);
    const ask: SessionCall = (session) => execute(session, text, values);
    return this.#requests.inLine(name, ask, secondBy([args])).map(([done]) => {
      const taken = holding.takenIn(Number(done?.[0] ?? 0));
      if (taken && due) this.#known.seenAt = at;
      return taken;
    });
  }

  /** @param due whether it looks at the birth of the table (history.ts). */
  #textOf(make: holding.TextOf, due: boolean): string {
    const made = due ? undefined : this.#texts.get(make);
    if (made !== undefined) return made;
    const seenAt = due ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
    const text = make(this.#tables, { ...this.#known, seenAt });
    if (!due) this.#texts.set(make, text);
    return text;
  }

  async #ask(textOf: (tables: MysqlTables, args: Args) => string, args: Args): Promise<Args> {
    return columnOf(await this.#requests.query(textOf(this.#tables, args)));
  }

  #read(textOf: typeof statements.read, list: string): Promise<readonly TextRow[]> {
    return this.#requests.query(textOf(this.#tables, JSON.parse(list) as Args, this.#known));
  }

  async #write(args: Args, ask: (text: string) => Promise<readonly TextRow[]>): Promise<Args> {
    type RowsAndWakes = [statements.RowWrite[], statements.RowWake[]];
    const [rows, wakes] = args.map((text) => JSON.parse(text)) as RowsAndWakes;
    const done = await ask(statements.write(this.#tables, rows, this.#wakes.others(wakes)));
    const written = statements.writtenIn(rows, done.slice(1));
    this.#wakes.all(wakes.filter(({ name }) => written.includes(name)));
    return written;
  }
}

function numberIn(taken: holding.Taken | undefined): string[] {
  return taken ? [String(taken.number)] : [];
}

function isDone(row: TextRow | undefined): boolean {
  return row !== undefined && row[0] !== '0';
}

/** The claims, each with what the lists say of it. */
function claimsIn(lists: Args): Args[] {
  const [names = [], ...more] = lists.map((list) => JSON.parse(list) as Args);
  return names.map((name, n) => [name, ...more.map((list) => list[n] ?? '')]);
}
