/** A process whose many callers all want the value of the period at the moment when it begins. */

import { appendFileSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { connect } from 'holdfast/connect';
import { refresh } from 'holdfast/refresh';
import { giveAnswer, sleep, theWord, workerOptions } from './processes.ts';

export interface RefreshOptions {
  readonly store: string;
  /** The period that the value is of. */
  readonly value: string;
  /** A byte for each load. */
  readonly loads: string;
  readonly callers: number;
  readonly periods: number;
  readonly everyMs: number;
  readonly loadMs: number;
}

export interface Refreshed {
  /** How long each call took, in µs. */
  readonly micros: readonly number[];
}

const options = workerOptions<RefreshOptions>();
const { store, value, loads, callers, periods, everyMs, loadMs } = options;
const locks = await connect(store);
await locks.mutex('warm up').run(() => {});
await theWord();

// The same for all processes, unless one of them is late by a whole second.
const begin = (Math.floor(Date.now() / 1000) + 2) * 1000;
const micros: number[] = [];
for (let period = 1; period <= periods; period++) {
  await sleep(begin + (period - 1) * everyMs - Date.now());
  await Promise.all(Array.from({ length: callers }, () => ask(period)));
}
await locks.close();
giveAnswer({ micros } satisfies Refreshed);

async function ask(period: number): Promise<void> {
  const since = performance.now();
  await refresh(locks, 'value', {
    read: () => {
      const known = Number(readFileSync(value, 'utf8'));
      return known >= period ? known : undefined;
    },
    load: async () => {
      await sleep(loadMs);
      appendFileSync(loads, '.');
      writeFileSync(`${value}.${process.pid}`, String(period));
      renameSync(`${value}.${process.pid}`, value);
      return period;
    },
  });
  micros.push((performance.now() - since) * 1000);
}
