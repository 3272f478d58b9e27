/** Databases as the fault tests of all stores see them. */
import { expect, vi } from 'vitest';
import { until } from '../../support/until.ts';
import { Bed, type StoreOptions } from './bed.ts';
import type { Mortal } from './server.ts';

export interface SqlServer extends Mortal {
  /** As whoever may do everything. */
  query(sql: string): Promise<readonly object[]>;
  close(): Promise<void>;
}

let beds = 0;

export abstract class SqlBed<
  Options extends StoreOptions = StoreOptions,
  At extends SqlServer = SqlServer,
  Config extends object = object,
> extends Bed<Options, At> {
  /** The user that stores connect as. */
  readonly name: string = `bed_${++beds}_`;
  readonly #from: At | ((config?: Config) => Promise<At>);

  /** With a server that several use at a time, which must not suffer; or with what starts one. */
  constructor(from: At | ((config?: Config) => Promise<At>)) {
    super();
    this.#from = from;
  }

  /** Makes that user, and the tables. */
  protected abstract prepare(server: At): Promise<void>;

  /** All that claims and records are kept in. */
  protected abstract readonly tables: readonly string[];

  /** By its name without that of this bed. */
  abstract rows(server: At, table: string): Promise<readonly unknown[]>;

  /** As programs do, and as if an hour had passed since whatever is in the tables. */
  protected abstract sweep(server: At): Promise<void>;

  protected abstract endSession(server: At, id: number): Promise<unknown>;

  /** Somebody else stands still in a transaction in which the row of this resource is locked. */
  abstract block(server: At, resource: string): Promise<{ close(): Promise<void> }>;

  /** Of stores, by number. */
  abstract sessions(server: At): Promise<readonly number[]>;

  /** Those that wait for the lock of a row. */
  abstract blocked(server: At): Promise<readonly number[]>;

  async server(config?: Config): Promise<At> {
    const from = this.#from;
    const server = typeof from === 'function' ? this.serve(await from(config)) : from;
    await this.prepare(server);
    return server;
  }

  async endSessions(server: At): Promise<void> {
    for (const id of await this.sessions(server)) await this.endSession(server, id);
  }

  /** No claim has a living name. */
  async #isOver(server: At): Promise<boolean> {
    const store = this.store(server);
    const { done } = (await store.list?.('')[Symbol.asyncIterator]().next()) ?? {};
    await store.close?.();
    return done === true;
  }

  /** No sessions, no claims; and what is kept for a while is swept when it is over. */
  async expectNothingLeft(server: At): Promise<void> {
    // The server hears of a closed connection a moment later.
    await until('were all sessions over', async () => (await this.sessions(server)).length === 0);
    // Whom a release did not reach in time passes by itself.
    await until('were all claims over', () => this.#isOver(server));
    await this.sweep(server);
    for (const table of this.tables) expect(await this.rows(server, table), table).toEqual([]);
  }
}

/**
 * For files whose tests have a server each: so many at a time that all start before leases die, and
 * patience for what a busy machine takes.
 */
export function serversOfTheirOwn(): void {
  vi.setConfig({ maxConcurrency: 4 });
}
