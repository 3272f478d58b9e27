/**
 * A stampede: the value of a period ends, and 1,000 callers in 4 processes want the next one at
 * once. How often it is loaded, and how long the callers wait for a load of 20 ms.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { scratchFolder, together } from './processes.ts';
import { serverUrl } from './redis/server.ts';
import type { Refreshed, RefreshOptions } from './refresh-worker.ts';
import { quantile, report } from './result.ts';

const PROCESSES = 4;
const CALLERS = 250;
const PERIODS = 20;
const EVERY_MS = 500;
const LOAD_MS = 20;

await measure('SQLite', (folder) => `sqlite:${join(folder, 'locks.db')}`);
await measure('Redis', serverUrl);

async function measure(name: string, storeIn: (folder: string) => string): Promise<void> {
  const folder = scratchFolder();
  const [value, loads] = [join(folder, 'value'), join(folder, 'loads')];
  writeFileSync(value, '0');
  writeFileSync(loads, '');
  const options: RefreshOptions = {
    ...{ store: storeIn(folder), value, loads, callers: CALLERS },
    ...{ periods: PERIODS, everyMs: EVERY_MS, loadMs: LOAD_MS },
  };
  const each = Array.from({ length: PROCESSES }, () => options);
  const answers = await together<Refreshed>('refresh-worker', each);
  const micros = answers.flatMap((answer) => answer.micros);
  const perPeriod = readFileSync(loads).length / PERIODS;
  report({
    figure: 'refresh',
    what: `${name}: ${PROCESSES} processes, ${CALLERS} callers each, ${PERIODS} periods`,
    measured: {
      'loads a period': perPeriod,
      'median ms': quantile(micros, 0.5) / 1000,
      'p99 ms': quantile(micros, 0.99) / 1000,
      'longest ms': quantile(micros, 1) / 1000,
    },
    ...{ goal: 'loads = 1', met: perPeriod === 1 },
  });
}
