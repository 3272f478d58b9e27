/**
 * What the pages take as given, for one block: the names that docs/snippets.d.ts declares, with
 * locks in memory and a database in SQLite, and an account of what the block did with them.
 */
import { format } from 'node:util';
import { createLocks, type Lease, type Locks, systemClock } from 'holdfast';
import { memoryStore } from 'holdfast/memory';
import { type Database, openDatabase } from '../../../examples/shared/open-database.ts';
import { Shelf } from '../../stores/document/shelf.ts';
import type { Module } from './blocks.ts';
import { type Imports, newImports } from './imports.ts';
import { newReader, type Reader } from './reader.ts';

export const SKU = 'book';

export interface World extends Imports, Omit<Reader, 'given'> {
  readonly locks: Locks;
  /** Of another process, on the same store. */
  readonly others: Locks;
  readonly db: Database;
  /** How often the block has called each function that it was given. */
  readonly calls: ReadonlyMap<string, number>;
  /** The lines that it wrote to the console. */
  readonly printed: readonly string[];
  /** What it put off. */
  readonly timers: readonly (() => void)[];
  readonly names: Module;
  close(): Promise<void>;
}

export async function openWorld(): Promise<World> {
  const store = memoryStore();
  const locks = createLocks(store);
  const others = createLocks(store, { label: 'another' });
  const db = await openDatabase(':memory:');
  db.exec('CREATE TABLE stock (sku TEXT PRIMARY KEY, n INTEGER NOT NULL)');
  db.prepare('INSERT INTO stock VALUES (?, 3)').run(SKU);
  const calls = new Map<string, number>();
  const printed: string[] = [];
  const timers: (() => void)[] = [];
  const print = (...line: unknown[]): unknown => printed.push(format(...line));
  const { given, ...reader } = newReader();
  const imports = newImports();
  const names = {
    ...counted({ ...given, setTimeout: (work: () => void) => timers.push(work) }, calls),
    ...{ locks, db, lease: await leaseOf(others), sku: SKU, from: 'here', to: 'there' },
    ...{ jobs: { add: async () => {} }, order: { id: '4711', cents: 995 } },
    ...{ request: { signal: new AbortController().signal } },
    console: { log: print, warn: print },
    documents: new Shelf({ clock: systemClock() }).connect(),
  };
  const close = async (): Promise<void> => {
    for (const server of imports.servers) server.close();
    await Promise.all([locks, others, ...imports.opened].map(closeNow));
    for (const stop of imports.stops) await stop();
    db.close();
  };
  return { ...imports, ...reader, locks, others, db, calls, printed, timers, names, close };
}

/** A lease that is nobody's any more: it is asked for its name and its token. */
async function leaseOf(locks: Locks): Promise<Lease> {
  await using lease = await locks.mutex(`order:4711`).acquire();
  return lease;
}

/** What is still held has served its purpose. */
const closeNow = (locks: Locks): Promise<void> => locks.close({ drain: 0 });

/** The same, with an account of the calls. */
function counted(given: Module, calls: Map<string, number>): Module {
  const entries = Object.entries(given).map(([name, value]) => {
    if (typeof value !== 'function' || /^[A-Z]/.test(name)) return [name, value] as const;
    calls.set(name, 0);
    const counting = (...parameters: unknown[]): unknown => {
      calls.set(name, (calls.get(name) ?? 0) + 1);
      return value(...parameters);
    };
    return [name, counting] as const;
  });
  return Object.fromEntries(entries);
}
