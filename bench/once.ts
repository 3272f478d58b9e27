/**
 * `once`, on SQLite and Redis: for a key that is done, which takes one look, and for a new one,
 * which takes a claim, two looks, a record and a release. A mutex that nobody else wants is beside
 * them.
 */

import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { createLocks, type Locks } from 'holdfast';
import { once } from 'holdfast/once';
import { redisStore } from 'holdfast/redis';
import { sqliteStore } from 'holdfast/sqlite';
import { Redis } from 'ioredis';
import { scratchFolder } from './processes.ts';
import { serverUrl } from './redis/server.ts';
import { type Candidate, type Round, report, takeTurns, timed } from './result.ts';

const FIGURE = 'once';
const ROUNDS = 5;
const TIMES = 2_000;
const CROWD = 64;

/** So that what earlier rounds have kept goes while later ones run. */
const OPTIONS = { keepFor: '10s' } as const;
const DONE = { keepFor: '1h' } as const;

const client = new Redis(serverUrl());
await measure('SQLite', createLocks(sqliteStore(join(scratchFolder(), 'locks.db'))));
await measure('Redis', createLocks(redisStore(client)));
await client.quit();

async function measure(store: string, locks: Locks): Promise<void> {
  await once(locks, 'done', DONE, () => 1);
  let keys = 0;
  const deeds: Readonly<Record<string, (task: number) => Promise<unknown>>> = {
    'mutex, acquire and release': async (task) =>
      (await locks.mutex(`mutex:${task}`).acquire()).release(),
    'once, a key that is done': () => once(locks, 'done', DONE, () => 1),
    'once, a new key': () => once(locks, `new:${keys++}`, OPTIONS, () => 1),
  };
  for (const [way, tasks] of [
    ['one after another', 1],
    [`${CROWD} at once`, CROWD],
  ] as const) {
    const candidates = Object.entries(deeds).map(
      ([what, deed]): Candidate => ({
        name: `${store}: ${what}, ${way}`,
        round: () => atOnce(tasks, deed),
      }),
    );
    for (const outcome of await takeTurns(candidates, ROUNDS)) {
      report({
        figure: FIGURE,
        what: outcome.name,
        measured: {
          'calls/s': outcome.perSecond,
          'median µs': outcome.median,
          'p99 µs': outcome.p99,
        },
        ratio: outcome.rateRatio,
      });
    }
  }
  await locks.close();
}

/** Each task does it one after another. */
async function atOnce(tasks: number, deed: (task: number) => Promise<unknown>): Promise<Round> {
  const since = performance.now();
  const times = Math.ceil(TIMES / tasks);
  const each = await Promise.all(
    Array.from({ length: tasks }, (_, task) => timed(times, () => deed(task))),
  );
  const micros = each.flatMap((own) => Array.from(own.micros));
  return { perSecond: micros.length / ((performance.now() - since) / 1000), micros };
}
