/**
 * Acquire and release on SQLite, when nobody else wants the same lock: what a lock costs at best.
 * The floor is one INSERT and one DELETE through the same binding, each a commit of its own.
 */

import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { createLocks } from 'holdfast';
import { sqliteStore } from 'holdfast/sqlite';
import { BARE_TABLES, barePair, openBare } from './bare-sqlite.ts';
import { scratchFolder, together } from './processes.ts';
import {
  atLeast,
  type Candidate,
  median,
  quantile,
  report,
  takeTurns,
  timed,
  timedSync,
} from './result.ts';
import type { Share, ShareOptions } from './share-worker.ts';

const FIGURE = 'sqlite';
const ROUNDS = 7;
const PAIRS = 15_000;
const CROWD = 64;

const PROCESSES = 4;
const SHARE_ROUNDS = 3;
const SHARE_MS = 4_000;

const folder = scratchFolder();
await oneProcess();
await manyProcesses();

async function oneProcess(): Promise<void> {
  const bare = openBare(join(folder, 'bare.db'));
  bare.exec(BARE_TABLES);
  const locks = createLocks(sqliteStore(join(folder, 'locks.db')));
  const lock = locks.mutex('one');
  const crowd = Array.from({ length: CROWD }, (_, n) => locks.mutex(`crowd:${n}`));

  const candidates: Candidate[] = [
    ...['bare', 'bare_rowid'].map((table): Candidate => {
      const pair = barePair(bare, table, 'one');
      const layout = table === 'bare' ? 'WITHOUT ROWID' : 'rowid table';
      return {
        name: `floor: INSERT + DELETE, ${layout}`,
        round: async () => timedSync(PAIRS, pair),
      };
    }),
    {
      name: 'holdfast, one after another',
      round: () => timed(PAIRS, async () => (await lock.acquire()).release()),
    },
    {
      name: `holdfast, ${CROWD} resources at once`,
      async round() {
        const since = performance.now();
        const each = await Promise.all(
          crowd.map((one) =>
            timed(Math.ceil((2 * PAIRS) / CROWD), async () => (await one.acquire()).release()),
          ),
        );
        const micros = each.flatMap((own) => Array.from(own.micros));
        return { perSecond: micros.length / ((performance.now() - since) / 1000), micros };
      },
    },
  ];

  const goals = [undefined, undefined, 0.7, 3];
  const outcomes = await takeTurns(candidates, ROUNDS);
  outcomes.forEach((outcome, n) => {
    const goal = goals[n];
    report({
      figure: FIGURE,
      what: outcome.name,
      measured: {
        'pairs/s': outcome.perSecond,
        'median µs': outcome.median,
        'p99 µs': outcome.p99,
      },
      ...(goal === undefined ? { ratio: outcome.rateRatio } : atLeast(goal, outcome.rateRatio)),
    });
  });
  await locks.close();
  bare.close();
}

/** Four processes, each with a resource of its own, in one file, as fast as they can. */
async function manyProcesses(): Promise<void> {
  const rounds: Record<ShareOptions['candidate'], Share[][]> = { bare: [], holdfast: [] };
  for (let round = 0; round < SHARE_ROUNDS; round++) {
    for (const candidate of ['bare', 'holdfast'] as const) {
      const file = join(folder, `share-${candidate}.db`);
      // Processes that turn the same new file to WAL at once would fail.
      if (candidate === 'bare') openBare(file).close();
      const workers = Array.from({ length: PROCESSES }, (_, n): ShareOptions => {
        return { candidate, file, name: `own:${n}`, forMs: SHARE_MS };
      });
      rounds[candidate].push(await together<Share>('share-worker', workers));
    }
  }
  const rows = {
    bare: `floor: INSERT + DELETE, SQLite's own busy handler, ${PROCESSES} processes`,
    holdfast: `holdfast, ${PROCESSES} processes on ${PROCESSES} resources in one file`,
  };
  for (const candidate of ['bare', 'holdfast'] as const) {
    const all = rounds[candidate];
    const pairs = all.map((round) => round.reduce((sum, each) => sum + each.pairs, 0));
    const shares = all.flatMap((round, n) => round.map((each) => each.pairs / (pairs[n] ?? 0)));
    const least = 100 * Math.min(...shares);
    report({
      figure: FIGURE,
      what: rows[candidate],
      measured: {
        'pairs/s': median(pairs) / (SHARE_MS / 1000),
        'median µs': median(all.flat().map((each) => each.medianMicros)),
        'p99 µs': quantile(
          all.flat().map((each) => each.p99Micros),
          0.5,
        ),
        'longest ms': Math.max(...all.flat().map((each) => each.longestMs)),
        'least share %': least,
        'greatest share %': 100 * Math.max(...shares),
      },
      ...(candidate === 'holdfast' && { goal: 'least share ≥ 12.5 %', met: least >= 12.5 }),
    });
  }
}
