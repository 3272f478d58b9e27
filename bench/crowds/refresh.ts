/**
 * A stampede: the value of a period ends, and 1,000 callers in 4 processes want the next one at
 * once. How often it is loaded, and how long the callers wait for a load of 20 ms.
 */
import { appendFileSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { connect } from 'holdfast/connect';
import { refresh } from 'holdfast/refresh';
import { scratchFolder, sleep, theWord, together } from '../measuring/processes.ts';
import { quantile, report } from '../measuring/result.ts';
import type { Place } from '../measuring/subject.ts';
import { subjectAt } from '../stores/index.ts';

const PROCESSES = 4;
const CALLERS = 250;
const PERIODS = 20;
const EVERY_MS = 500;
const LOAD_MS = 20;

interface Files {
  readonly url: string;
  /** The period that the value is of. */
  readonly value: string;
  /** A byte for each load. */
  readonly loads: string;
}

export async function measure(places: readonly Place[]): Promise<void> {
  for (const { url } of places) {
    const folder = scratchFolder();
    const files: Files = { url, value: join(folder, 'value'), loads: join(folder, 'loads') };
    writeFileSync(files.value, '0');
    writeFileSync(files.loads, '');
    const each = Array.from({ length: PROCESSES }, () => files);
    const ms = (await together<number[]>(import.meta.url, 'stampede', each)).flat();
    const perPeriod = readFileSync(files.loads).length / PERIODS;
    const { name } = await subjectAt(url);
    report({
      what: `${name}: ${PROCESSES} processes, ${CALLERS} callers each, ${PERIODS} periods`,
      measured: {
        'loads a period': perPeriod,
        'median ms': quantile(ms, 0.5),
        'p99 ms': quantile(ms, 0.99),
        'longest ms': quantile(ms, 1),
      },
      ...{ goal: 'loads = 1', met: perPeriod === 1 },
    });
  }
}

/** A process whose callers all want the value of the period when it begins; their times in ms. */
export async function stampede({ url, value, loads }: Files): Promise<number[]> {
  const locks = await connect(url);
  await locks.mutex('warm up').run(() => {});
  await theWord();
  const times: number[] = [];
  const ask = async (period: number): Promise<void> => {
    const since = performance.now();
    await refresh(locks, 'value', {
      read: () => {
        const known = Number(readFileSync(value, 'utf8'));
        return known >= period ? known : undefined;
      },
      load: async () => {
        await sleep(LOAD_MS);
        appendFileSync(loads, '.');
        writeFileSync(`${value}.${process.pid}`, String(period));
        renameSync(`${value}.${process.pid}`, value);
        return period;
      },
    });
    times.push(performance.now() - since);
  };
  // The same for all processes, unless one of them is late by a whole second.
  const begin = (Math.floor(Date.now() / 1000) + 2) * 1000;
  for (let period = 1; period <= PERIODS; period++) {
    await sleep(begin + (period - 1) * EVERY_MS - Date.now());
    await Promise.all(Array.from({ length: CALLERS }, () => ask(period)));
  }
  await locks.close();
  return times;
}
