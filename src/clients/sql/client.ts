/** What an object of any package can do, in common terms. */
import type { Bound, Dialect } from './sql.ts';

export type ClientScope = 'transaction' | 'connection' | 'pool';

export interface Client {
  readonly dialect: Dialect;
  readonly place: ClientScope;
  rows(sql: string, values: Bound[]): PromiseLike<unknown>;
  count(sql: string, values: Bound[]): PromiseLike<unknown>;
  /** Whether a connection is inside a transaction; of others, the place shows it. */
  begun?(): Promise<boolean>;
  /** It is two functions of the caller's. */
  readonly custom?: true;
  /** A connection of the pool, where the client tells what became of its transaction. */
  borrow?(): Promise<BorrowedClient>;
}

export interface BorrowedClient extends Pick<Client, 'rows' | 'count'> {
  /**
   * What the last reply says: `idle`, all is committed; `begun`, it was in a transaction, and still
   * is; `manual`, it commits nothing by itself. Undefined if the reply does not say.
   */
  state(): 'idle' | 'begun' | 'manual' | undefined;
  giveBack(failed: boolean): void;
  /** Rolls back what is open, and ends the connection. */
  end(): Promise<void>;
}

export type ClientAnswer = Readonly<Record<string, unknown>>;

export type SqlSender = Omit<Client, 'place'>;

export async function endAfter(rollback: unknown, end: () => void): Promise<void> {
  // The server rolls back what a connection leaves behind.
  await Promise.allSettled([rollback]);
  end();
}
