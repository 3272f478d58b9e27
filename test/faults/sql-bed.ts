/** What the fault tests of databases need besides. */
import { vi } from 'vitest';
import { Bed, type Place, type StoreOptions } from './bed.ts';

export interface SqlServer extends Place {
  kill(): Promise<void>;
  /** Again, with what it has kept. */
  start(): Promise<void>;
  /** Kills and starts it. */
  restart(): Promise<void>;
  pause(): void;
  resume(): void;
}

export abstract class SqlBed<
  Options extends StoreOptions = StoreOptions,
  At extends SqlServer = SqlServer,
> extends Bed<Options, At> {
  /** The server ends all sessions of stores. */
  abstract endSessions(server: At): Promise<void>;

  /** Somebody else stands still in a transaction in which the row of this resource is locked. */
  abstract block(server: At, resource: string): Promise<{ close(): Promise<void> }>;

  /** Sessions of stores that wait for the lock of a row. */
  abstract blocked(server: At): Promise<readonly number[]>;
}

/**
 * For files whose tests have a server each: so many at a time that all start before leases die, and
 * patience for what a busy machine takes.
 */
export function serversOfTheirOwn(): void {
  vi.setConfig({ maxConcurrency: 4, testTimeout: 60_000 });
}
