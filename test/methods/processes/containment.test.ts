/** A holder that stalls or dies no longer believes when another can be granted its lock. */
import { writeFileSync } from 'node:fs';
import type { Locks, Store } from 'holdfast';
import { sqliteStore } from 'holdfast/sqlite';
import { describe, expect, test } from 'vitest';
import { Bed, type Place, TTL_MS } from '../faults/bed.ts';
import { handOverFaults } from '../faults/hand-over.ts';
import { processFaults } from '../faults/processes.ts';
import { Child, databaseFile } from './child.ts';
import type { ContenderOptions } from './children/contender.ts';

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

async function waiters(locks: Locks): Promise<number> {
  return (await locks.inspect('mutex')).waiters.length;
}

describe('a process that holds', () => processFaults(() => new FileBed()));

describe('a lease that is handed over', () => handOverFaults(() => new FileBed()));

test('kill -9 of the first waiter: those behind it get the lock all the same', async () => {
  await using bed = new FileBed();
  const place = await bed.server();
  writeFileSync(`${place.host}.counter`, '0');
  const [one, other] = [bed.locks(place), bed.locks(place)];
  const holder = await one.mutex('mutex').acquire();
  const terms = { kind: 'mutex', rounds: 1, ttl: TTL_MS, limit: 1, fair: false } as const;
  const options: ContenderOptions = { file: place.host, ...terms };
  const dying = new Child('contender', options);
  await dying.next('ready');
  dying.tell({ type: 'go' });
  await expect.poll(() => waiters(one)).toBe(1);
  const next = other.mutex('mutex').acquire();
  await expect.poll(() => waiters(one)).toBe(2);
  dying.kill('SIGKILL');
  await dying.exited();
  await holder.release();
  expect((await next).token).toBeGreaterThan(holder.token);
  expect(dying.heard('hold')).toEqual([]);
});
