export type Dialect = 'postgres' | 'mysql';

export type Row = Record<string, unknown>;

/** What a package's client can do, in the words of this file. */
export interface Link {
  readonly dialect: Dialect;
  /** Where statements end up: what can be told by looking. */
  readonly place: 'transaction' | 'connection' | 'pool';
  rows(sql: string, values: Bound[]): PromiseLike<unknown>;
  count(sql: string, values: Bound[]): PromiseLike<unknown>;
  /** Whether a connection is inside a transaction. */
  begun(): Promise<boolean>;
}

/** What can be bound. JSON goes as text: some clients make SQL of the fields of an object. */
export type Value = string | number | bigint | boolean | Date | Uint8Array | null;

export type Bound = string | number | bigint | boolean | Date | Buffer | null;
