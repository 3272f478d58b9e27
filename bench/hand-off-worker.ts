/** One of two processes that pass a lock to each other; when what happened, on the common clock. */
import { closeSync, openSync, watch, writeSync } from 'node:fs';
import { createLocks } from 'holdfast';
import { sqliteStore } from 'holdfast/sqlite';
import { openBare } from './bare-sqlite.ts';
import { giveAnswer, sleep, theWord, workerOptions } from './processes.ts';

export interface HandOffOptions {
  readonly candidate: 'bare' | 'holdfast';
  readonly file: string;
  /** 0 or 1. */
  readonly me: number;
  readonly holdMs: number;
  readonly gapMs: number;
  readonly turns: number;
}

/** In ns of the machine's monotonic clock, which all its processes share. */
export interface Turns {
  readonly claimed: number[];
  readonly granted: number[];
  readonly released: number[];
}

interface Passing {
  acquire(): Promise<unknown>;
  release(): Promise<unknown> | undefined;
  close(): Promise<unknown> | undefined;
}

const { candidate, file, me, holdMs, gapMs, turns } = workerOptions<HandOffOptions>();
const passing = candidate === 'bare' ? bare() : holdfast();
const all: Turns = { claimed: [], granted: [], released: [] };

await theWord();
for (let n = 0; n < turns; n++) {
  all.claimed.push(now());
  await passing.acquire();
  all.granted.push(now());
  if (holdMs > 0) await sleep(holdMs);
  all.released.push(now());
  await passing.release();
  if (gapMs > 0) await sleep(gapMs);
}
await passing.close();
giveAnswer(all);

function now(): number {
  return Number(process.hrtime.bigint());
}

function holdfast(): Passing {
  const locks = createLocks(sqliteStore(file));
  const lock = locks.mutex('one');
  let lease: Awaited<ReturnType<typeof lock.acquire>>;
  return {
    async acquire() {
      lease = await lock.acquire();
    },
    release: () => lease.release(),
    close: () => locks.close(),
  };
}

/**
 * One row says whose turn it is. Releasing writes the other's number there and a byte into the file
 * that the other watches; each event costs one statement, which grants if the number is ours.
 */
function bare(): Passing {
  const database = openBare(file);
  database.exec(`
    CREATE TABLE IF NOT EXISTS turn (one INTEGER PRIMARY KEY, who INTEGER, taken INTEGER);
    INSERT OR IGNORE INTO turn VALUES (1, 0, 0);
  `);
  const take = database.prepare('UPDATE turn SET taken = 1 WHERE one = 1 AND who = ?');
  const pass = database.prepare('UPDATE turn SET who = ?, taken = 0 WHERE one = 1');
  const mine = openSync(`${file}-notify-${me}`, 'a');
  const other = openSync(`${file}-notify-${1 - me}`, 'a');
  let granted: (() => void) | undefined;
  const ask = (): void => {
    if (!granted || take.run(me).changes !== 1) return;
    const grant = granted;
    granted = undefined;
    grant();
  };
  const watcher = watch(`${file}-notify-${me}`, ask);
  return {
    acquire() {
      return new Promise<void>((resolve) => {
        granted = resolve;
        ask();
      });
    },
    release() {
      pass.run(1 - me);
      writeSync(other, '.');
      return undefined;
    },
    close() {
      watcher.close();
      for (const fd of [mine, other]) closeSync(fd);
      database.close();
      return undefined;
    },
  };
}
