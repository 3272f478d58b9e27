/** One of several processes that take and release a lock of their own in the same file. */
import { performance } from 'node:perf_hooks';
import { createLocks } from 'holdfast';
import { sqliteStore } from 'holdfast/sqlite';
import { BARE_TABLES, barePair, openBare } from './bare-sqlite.ts';
import { giveAnswer, theWord, workerOptions } from './processes.ts';
import { median, quantile } from './result.ts';

export interface ShareOptions {
  readonly candidate: 'bare' | 'holdfast';
  readonly file: string;
  readonly name: string;
  readonly forMs: number;
}

export interface Share {
  readonly pairs: number;
  readonly medianMicros: number;
  readonly p99Micros: number;
  readonly longestMs: number;
}

const { candidate, file, name, forMs } = workerOptions<ShareOptions>();
const samples: number[] = [];

if (candidate === 'bare') {
  const database = openBare(file);
  database.exec(BARE_TABLES);
  const pair = barePair(database, 'bare', name);
  await theWord();
  const end = performance.now() + forMs;
  for (let now = performance.now(); now < end; ) {
    pair();
    now = note(now);
  }
  database.close();
} else {
  const locks = createLocks(sqliteStore(file));
  const lock = locks.mutex(name);
  await (await lock.acquire()).release();
  await theWord();
  const end = performance.now() + forMs;
  for (let now = performance.now(); now < end; ) {
    await (await lock.acquire()).release();
    now = note(now);
  }
  await locks.close();
}

const share: Share = {
  pairs: samples.length,
  medianMicros: median(samples),
  p99Micros: quantile(samples, 0.99),
  longestMs: quantile(samples, 1) / 1000,
};
giveAnswer(share);

function note(before: number): number {
  const now = performance.now();
  samples.push((now - before) * 1000);
  return now;
}
