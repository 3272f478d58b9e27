/** Another process gives the lock back, or dies with it: nothing is made up about its trace. */

import { createLocks } from 'holdfast';
import { createElection } from 'holdfast/election';
import { sqliteStore } from 'holdfast/sqlite';
import { expect, it, onTestFinished } from 'vitest';
import { Child, databaseFile } from '../../methods/processes/child.ts';
import { type Told, tell } from './sdk.ts';

/** Stands by for a seat that another process sits on, and leads once that process has ended. */
async function takesOver(end: (child: Child) => void): Promise<Told> {
  const file = databaseFile();
  const options = { store: `sqlite:${file}`, name: 'e', label: 'child', ttl: 500 };
  const child = new Child('candidate', options);
  await child.next('leads');
  const locks = createLocks(sqliteStore(file), { ttl: 500 });
  onTestFinished(() => locks.close({ drain: 0 }));
  const told = tell({ locks });
  const election = createElection(locks, 'e');
  const candidate = await told.inSpan('start', async () => election.campaign());
  for await (const { standbys } of election.observe({ every: 10 })) {
    if (standbys.length > 0) break;
  }
  end(child);
  for await (const { lease } of candidate) {
    expect(lease.held).toBe(true);
    break;
  }
  return told;
}

it('counts a hand-off from a process that gives it back; the trace is the caller', async () => {
  const told = await takesOver((child) => child.tell({}));
  const attributes = { 'holdfast.lock.kind': 'permits', 'holdfast.store': 'sqlite' };
  expect(await told.measured('holdfast.hand_offs')).toEqual([
    [{ ...attributes, 'holdfast.hand_off.type': 'remote' }, 1],
  ]);
  const [start, wait, hold] = told.spans();
  expect([wait?.name, hold?.name]).toEqual(['acquire permits', 'hold permits']);
  for (const span of [wait, hold]) {
    expect(span?.parentSpanContext?.spanId).toBe(start?.spanContext().spanId);
    expect(span?.links).toEqual([]);
  }
  expect(hold?.attributes).toMatchObject({ 'holdfast.takeover.reason': 'released' });
});

it('counts no hand-off from a process that died', async () => {
  const told = await takesOver((child) => child.kill('SIGKILL'));
  expect(await told.measured('holdfast.hand_offs')).toEqual([]);
  const hold = told.spans().find(({ name }) => name === 'hold permits');
  expect(hold?.attributes).toMatchObject({ 'holdfast.takeover.reason': 'expired' });
});
