/** A holder that stalls or dies no longer believes when another can be granted its lock. */
import { writeFileSync } from 'node:fs';

import { createLocks, type Locks } from 'holdfast';
import { sqlFence } from 'holdfast/fence';
import { sqliteStore } from 'holdfast/sqlite';
import Database from 'libsql';
import { describe, expect, onTestFinished, test } from 'vitest';
import { paced } from '../../support/this-run.ts';
import { Child, databaseFile } from './child.ts';
import type { Found, HolderOptions } from './children/holder.ts';
import type { Ran, RunnerOptions } from './children/runner.ts';
import { machineMs } from './children/talk.ts';
import { type Probe, probe } from './prober.ts';

/** Three heartbeats fit even when the machine is busy. */
const TTL_MS = paced(600);

interface Held {
  readonly token: bigint;
  readonly at: number;
}

/** A child that holds the mutex, and a store beside it. */
async function holder(how: HolderOptions['how']) {
  const file = databaseFile();
  guardedData(file);
  const store = sqliteStore(file);
  onTestFinished(() => store.close?.());
  const options: HolderOptions = { store: `sqlite:${file}`, file, ttl: TTL_MS, how };
  const child = new Child('holder', options);
  return { file, store, child, held: await child.next<Held>('held') };
}

function guardedData(file: string): void {
  const data = new Database(`${file}.data`);
  data.exec("CREATE TABLE guarded (writer TEXT); INSERT INTO guarded VALUES ('nobody')");
  data.close();
}

/** What the new holder writes, as its fence allows. */
function write(file: string, { claim, status }: Probe, lineage: string): void {
  const data = new Database(`${file}.data`);
  data.exec('BEGIN IMMEDIATE');
  const token = status.token * 1024n;
  sqlFence({ dialect: 'sqlite' }).enter(data, { resource: claim.resource, lineage, token });
  data.exec("UPDATE guarded SET writer = 'the new holder'");
  data.exec('COMMIT');
  data.close();
}

function writer(file: string): unknown {
  const data = new Database(`${file}.data`);
  const row = data.prepare('SELECT writer FROM guarded').get() as { writer: string };
  data.close();
  return row.writer;
}

async function waiters(locks: Locks): Promise<number> {
  return (await locks.inspect('mutex')).waiters.length;
}

describe('containment', () => {
  test('kill -9: the next grant comes after the TTL and says what happened', async () => {
    const { store, child, held } = await holder('watch');
    const locks = createLocks(store);
    onTestFinished(() => locks.close({ drain: 0 }));
    const waiting = locks.mutex('mutex').acquire();
    child.kill('SIGKILL');
    await child.exited();
    const killedAt = machineMs();
    const { holders } = await locks.inspect('mutex');
    const leftMs = holders[0]?.leftMs ?? 0;
    expect(leftMs).toBeLessThanOrEqual(TTL_MS);
    const next = await waiting;
    expect(next.takeover).toEqual({ reason: 'expired', token: held.token });
    expect(next.token).toBeGreaterThan(held.token);
    // It died when its last heartbeat had run out, no earlier.
    expect(machineMs()).toBeGreaterThanOrEqual(killedAt + leftMs - 5);
  });

  test('an exit right after the work: the lock is held until minHold, by no process', async () => {
    const file = databaseFile();
    const minHold = 4 * TTL_MS;
    const options = { store: `sqlite:${file}`, ttl: TTL_MS, minHold } satisfies RunnerOptions;
    const child = new Child('runner', options);
    const { from } = await child.next<Ran>('ran');
    await child.exited();
    const locks = createLocks(sqliteStore(file));
    onTestFinished(() => locks.close({ drain: 0 }));
    const next = await locks.mutex('mutex').acquire();
    expect(machineMs()).toBeGreaterThanOrEqual(from + minHold);
    expect(next.takeover?.reason).not.toBe('expired');
  });

  test('kill -9 of the first waiter: those behind it get the lock all the same', async () => {
    const file = databaseFile();
    writeFileSync(`${file}.counter`, '0');
    const [one, other] = [createLocks(sqliteStore(file)), createLocks(sqliteStore(file))];
    for (const locks of [one, other]) onTestFinished(() => locks.close({ drain: 0 }));
    const holder = await one.mutex('mutex').acquire();
    const options = { file, kind: 'mutex', rounds: 1, ttl: TTL_MS, limit: 1, fair: false };
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

  test('SIGSTOP past the TTL: the resumed holder finds it lost, its write refused', async () => {
    const { file, store, child, held } = await holder('watch');
    child.kill('SIGSTOP');
    const taken = await probe(store);
    write(file, taken, store.lineage);
    child.kill('SIGCONT');
    const found = await child.next<Found>('lost');
    expect(found.lastHeldAt).toBeLessThan(taken.at);
    expect(found).toMatchObject({ state: 'lost', reason: 'stalled', aborted: true });
    expect(found.write).toBe('STALE_TOKEN');
    expect(writer(file)).toBe('the new holder');
    expect(taken.status.takeover).toEqual({ reason: 'expired', token: held.token / 1024n });
    child.tell({ type: 'enough' });
    await child.exited();
  });

  test('SIGSTOP between the check and the write: the fence refuses the write', async () => {
    const { file, store, child } = await holder('stop');
    const taken = await probe(store);
    write(file, taken, store.lineage);
    child.kill('SIGCONT');
    const found = await child.next<Found>('lost');
    expect(found.lastHeldAt).toBeLessThan(taken.at);
    expect(found).toMatchObject({ write: 'STALE_TOKEN', state: 'lost', reason: 'stalled' });
    expect(writer(file)).toBe('the new holder');
  });

  test('SIGSTOP for less than the TTL: the lease goes on', async () => {
    const { store, child, held } = await holder('watch');
    child.kill('SIGSTOP');
    // Longer than a heartbeat, far shorter than what is left of the TTL.
    await new Promise((resolve) => setTimeout(resolve, TTL_MS / 3));
    child.kill('SIGCONT');
    // Longer than the TTL: without heartbeats after the stop it would be dead.
    await new Promise((resolve) => setTimeout(resolve, 1.5 * TTL_MS));
    expect(child.heard('lost').length === 0 ? 'held' : 'lost').toBe('held');
    const { holders } = await store.inspect('mutex');
    expect(holders[0]?.number).toBe(held.token / 1024n);
  });

  test('a blocked event loop: whoever looks finds the lease lost in time', async () => {
    const { file, store, child } = await holder('block');
    const taken = await probe(store);
    const found = await child.next<Found>('lost');
    expect(found.lastHeldAt).toBeLessThan(taken.at);
    expect(found).toMatchObject({ state: 'lost', reason: 'stalled', aborted: true });
    expect(['written', 'STALE_TOKEN']).toContain(found.write);
    write(file, taken, store.lineage);
    expect(writer(file)).toBe('the new holder');
  });
});
