/** What the figures of a database's store need to know of it. */
import type { Store } from 'holdfast';
import type { Connect } from '../contender.ts';
import { mysql } from '../mysql/database.ts';
import { postgres } from '../postgres/database.ts';
import type { Protocol } from './round-trips.ts';

export type Facts = Readonly<Record<string, number>>;

export interface Database {
  readonly contenders: Readonly<Record<string, Connect>>;
  /** Compared with each other, the floor first. */
  readonly uncontended: readonly (readonly string[])[];
  /** The floor first. */
  readonly contended: readonly string[];
  readonly protocol: Protocol;
  store(url: string, options: StoreOptions): { store: Store; end(): Promise<unknown> };
  /** Makes the tables of all contenders. */
  observe(url: string): Promise<Observer>;
}

export interface StoreOptions {
  readonly maxTtl: number;
}

/** What the server says of its work so far. */
export interface Observer {
  /** That clients have sent and that succeeded, without those of the observer. */
  statements(): Promise<number>;
  /** What else there is, by the columns of the table. */
  facts(): Promise<Facts>;
  /** Sessions of others. */
  others(): Promise<number>;
  /** Of the tables of the store. */
  sizes(): Promise<Facts>;
  /** Takes away what is dead. */
  tidy(): Promise<unknown>;
  close(): Promise<unknown>;
}

const DATABASES: Readonly<Record<string, Database>> = { postgres, mysql };

/** Of this process, as the environment says. */
export const name: string = process.env.BENCH_DATABASE ?? '';
export const url: string = process.env.BENCH_DATABASE_URL ?? '';
export const database: Database = chosen();

function chosen(): Database {
  const found = DATABASES[name];
  if (!found || !url) throw new Error('BENCH_DATABASE and BENCH_DATABASE_URL name no database.');
  return found;
}

export function contender(what: string): Connect {
  const found = database.contenders[what];
  if (!found) throw new Error(`There is no contender ${what}.`);
  return found;
}
