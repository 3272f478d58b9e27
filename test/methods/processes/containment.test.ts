/** A holder that stalls or dies no longer believes when another can be granted its lock. */
import type { Store } from 'holdfast';
import { sqliteStore } from 'holdfast/sqlite';
import { expect } from 'vitest';
import { Bed, type Place } from '../faults/bed.ts';
import { faultsOfProcesses } from '../faults/of-processes.ts';
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

faultsOfProcesses(() => new FileBed());
