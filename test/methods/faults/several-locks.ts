/** Processes that want two of three locks in one step, while one dies and one stands still. */
import type { Locks } from 'holdfast';
import { expect, test } from 'vitest';
import { until } from '../../support/until.ts';
import { disorderOf } from '../histories/holds.ts';
import { Child } from '../processes/child.ts';
import type { Booked, BookerOptions } from '../processes/children/booker.ts';
import { type Bed, MAX_TTL_MS, sleep, TTL_MS } from './bed.ts';

const NAMES = ['a', 'b', 'c'].map((name) => `{seat} ${name}`);
const PROCESSES = 5;
const ROUNDS = 10;

/** Each pair of them has a lock in common, so one process at a time holds. */
async function bookTogether(store: string, locks: Locks): Promise<void> {
  const options = { store, names: NAMES, rounds: ROUNDS, ttl: TTL_MS } satisfies BookerOptions;
  const children = Array.from({ length: PROCESSES }, () => new Child('booker', options));
  await Promise.all(children.map((child) => child.next('ready')));
  for (const child of children) child.tell({ type: 'go' });
  const [killed, stopped, ...others] = children as [Child, Child, ...Child[]];
  await killed.next('holds');
  killed.kill('SIGKILL');
  await killed.exited();
  await stopped.next('holds');
  stopped.kill('SIGSTOP');
  // Longer than a life: the others get what it holds.
  await sleep(TTL_MS * 1.5);
  stopped.kill('SIGCONT');
  await Promise.all([stopped, ...others].map((child) => child.next('done')));
  const booked = children.flatMap((child) => child.heard<Booked>('booked'));
  expect(booked.length).toBeGreaterThanOrEqual((others.length + 1) * ROUNDS);
  expect(booked.every(({ records }) => records.length === NAMES.length - 1)).toBe(true);
  expect(disorderOf(booked.flatMap(({ records }) => records))).toEqual([]);
  // No two holds overlap, whichever locks they are of: all is as one lock.
  const whole = booked.flatMap(({ records: [record] }) => record ?? []);
  const asOne = whole.map((record) => ({ ...record, resource: 'row', token: undefined }));
  expect(disorderOf(asOne)).toEqual([]);
  for (const name of NAMES) {
    const free = async () => (await locks.inspect(name)).holders.length === 0;
    await until(`was ${name} free`, free);
  }
}

export function bookingFaults(newBed: () => Bed): void {
  test('no two hold the same, and who is killed or stopped lets all of its locks go', async () => {
    await using bed = newBed();
    const server = await bed.server();
    await bookTogether(bed.urlOf(server, MAX_TTL_MS), bed.locks(server));
  });
}
