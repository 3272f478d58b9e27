/** A holder that stalls or dies no longer believes when another can be granted its lock. */
import type { Store } from 'holdfast';
import { sqliteStore } from 'holdfast/sqlite';
import { describe, expect } from 'vitest';
import { Bed, type Place } from '../faults/bed.ts';
import { handOverFaults } from '../faults/hand-over.ts';
import { processFaults } from '../faults/processes.ts';
import { bookingFaults } from '../faults/several-locks.ts';
import { databaseFile } from './child.ts';

/** SQLite as the fault tests of all stores see it: the host is a file. */
class FileBed extends Bed {
  async server(): Promise<Place> {
    return { host: databaseFile(), port: 0 };
  }

  store({ host }: Place): Store {
    return this.use(sqliteStore(host));
  }

  urlOf({ host }: Place): string {
    return `sqlite:${host}`;
  }

  async expectNothingLeft(file: Place): Promise<void> {
    for await (const name of this.store(file).list?.('') ?? []) expect.fail(`left: ${name}`);
    await this.leave();
  }
}

describe('a process that holds', () => processFaults(() => new FileBed()));

describe('a lease that is handed over', () => handOverFaults(() => new FileBed()));

describe('several locks in one step', () => bookingFaults(() => new FileBed()));
