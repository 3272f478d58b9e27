/** Wake-ups between stores that listen at files, as processes do. */
import { EventEmitter } from 'node:events';
import fs from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, vi } from 'vitest';
import type { SqliteDatabase } from '../../../src/clients/sqlite/connection.ts';
import type { WatchFile } from '../../../src/clients/sqlite/wake-file.ts';
import { hearWarnings } from '../../methods/faults/warnings.ts';
import { closing } from '../../support/closing.ts';
import { until } from '../../support/until.ts';
import {
  claimOf,
  connect,
  filesOf,
  handOver,
  hintsOf,
  hold,
  newFile,
  one,
  open,
  scene,
  test,
} from './bed.ts';

/** The one at which nobody was told anything yet: it has a mark alone. */
function unused(file: string): string {
  return filesOf(file).find((path) => fs.statSync(path).size < 20) ?? '';
}

/** A system that has no watch left to give. */
const exhausted: WatchFile = () => {
  throw Object.assign(new Error('System limit for number of file watchers reached'), {
    code: 'ENOSPC',
  });
};

test('a lock that nobody else wants touches no file and starts no watch', async ({ file }) => {
  const watch: WatchFile = () => {
    throw new Error('not wanted');
  };
  const store = open(file, { watchFile: watch });
  for (let i = 0; i < 100; i++) {
    const claim = claimOf('job');
    const watching = await store.watch(claim, () => {});
    await hold(store, claim);
    await store.release([claim]);
    await watching[Symbol.asyncDispose]();
  }
  expect(filesOf(file)).toEqual([]);
});

test('nobody is woken before the commit', async ({ file }) => {
  const written = (): number =>
    filesOf(file).reduce((sum, name) => sum + fs.statSync(name).size, 0);
  const database = await connect(file);
  const atCommit: number[] = [];
  const watched: SqliteDatabase = {
    prepare: (sql) => database.prepare(sql),
    close: () => database.close(),
    exec(sql) {
      if (sql === 'COMMIT') atCommit.push(written());
      return database.exec(sql);
    },
  };
  const [holder, next] = [claimOf('job'), claimOf('job')];
  const [a, b] = [open(file, { database: watched }), open(file)];
  await hold(a, holder);
  await hintsOf(b, next);
  await b.claim([next]);
  const before = written();
  atCommit.length = 0;
  await a.release([holder]);
  expect(atCommit).toEqual([before]);
  expect(written()).toBeGreaterThan(before);
});

test('a holder hears of its first waiter, even if it does not listen yet', async ({ file }) => {
  const [a, b] = [open(file), open(file)];
  const holder = claimOf('job');
  const hints = await hintsOf(a, holder);
  await hold(a, holder);
  await b.claim([claimOf('job')]);
  await b.claim([claimOf('job')]);
  await until(() => hints.length > 0);
  expect(hints).toMatchObject([{ state: 'held', waiters: 1 }]);
});

test('news that are older than what is known of a claim are no news', async () => {
  const { file, waiter, hints } = await scene();
  const append = (at: number, waiters: number): void => {
    const news = `h 1 1000 ${waiters} - - 0`;
    const listening = filesOf(file);
    for (const each of listening) {
      fs.appendFileSync(each, `\n${JSON.stringify([waiter.id, at, news])}\n`);
    }
  };
  append(1, 0);
  append(Number.MAX_SAFE_INTEGER, 1);
  append(Number.MAX_SAFE_INTEGER - 1, 0);
  await until(() => hints.length > 0);
  expect(hints).toMatchObject([{ state: 'held', waiters: 1 }]);
});

test('what was sent before the watch stood is received', async ({ file }) => {
  let watches = 0;
  // The other process is admitted in the very moment in which this one begins to listen.
  const late: WatchFile = (path, options, changed) => {
    watches++;
    const news = `h ${token} 1000 0 - - 0`;
    fs.appendFileSync(path, `${JSON.stringify([holder.id, Number.MAX_SAFE_INTEGER, news])}\n`);
    return fs.watch(path, options, changed);
  };
  const [a, b] = [open(file), open(file, { watchFile: late })];
  const holder = claimOf('job');
  const token = await hold(b, holder);
  const hints = await hintsOf(b, holder);
  await hold(a, claimOf('other'));
  const waiter = claimOf('other');
  await b.watch(waiter, () => {});
  await b.claim([waiter]);
  await until(() => hints.length > 0);
  expect(hints).toMatchObject([{ state: 'held', token }]);
  expect(watches).toBe(1);
});

test('without a watch, waiters poll and are woken all the same', async () => {
  const { codes } = closing(hearWarnings());
  const file = newFile();
  const [a, b] = [open(file), open(file, { watchFile: exhausted })];
  for (let round = 0; round < 3; round++) {
    const [holder, waiter] = [claimOf('job'), claimOf('job')];
    await hold(a, holder);
    const hints = await hintsOf(b, waiter);
    await b.claim([waiter]);
    await handOver({ a, holder, hints });
    await b.release([waiter]);
  }
  // Others in this process may cause warnings, too.
  expect(codes.filter((code) => code === 'HOLDFAST_SQLITE_WAKE')).toHaveLength(1);
});

test('a watch that fails later is replaced by polling', async () => {
  const watchers: EventEmitter[] = [];
  const failing: WatchFile = () => {
    const watcher = Object.assign(new EventEmitter(), { close: () => {} });
    watchers.push(watcher);
    return watcher as unknown as ReturnType<WatchFile>;
  };
  const waits = await scene({ watchFile: failing });
  watchers[0]?.emit('error', Object.assign(new Error('gone'), { code: 'EMFILE' }));
  await handOver(waits);
});

test('a file that has grown is emptied, and nothing is missed', async ({ file }) => {
  const [a, b] = [open(file), open(file)];
  const kept = claimOf('kept', { ttlMs: 600_000, id: 'x'.repeat(500) });
  const seen: number[] = [];
  let largest = 0;
  await hold(b, kept);
  await b.watch(kept, () => seen.push(1));
  const waiter = claimOf('listen');
  await hold(a, claimOf('listen'));
  await b.watch(waiter, () => {});
  await b.claim([waiter]);
  // Each new first waiter tells the holder once: some 520 bytes.
  for (let i = 1; i <= 200; i++) {
    const visitor = claimOf('kept');
    await a.claim([visitor]);
    await a.release([visitor]);
    await until(() => seen.length === i);
    const sizes = filesOf(file).map((each) => fs.statSync(each).size);
    largest = Math.max(largest, ...sizes);
  }
  const sizes = filesOf(file).map((each) => fs.statSync(each).size);
  expect(largest).toBeGreaterThan(60_000);
  expect(Math.max(...sizes)).toBeLessThan(60_000);
});

test('old files are removed, and a process that listens makes a new one', async () => {
  const { file } = await scene();
  const c = open(file);
  // The one at which the waiter listens: the holder was told of it at another.
  const used = unused(file);
  const left = `${file}-wake-0123456789abcdef`;
  const others = [`${file}-wake-mine`, join(dirname(file), 'x.db-wake-0123456789abcdef')];
  fs.writeFileSync(left, '');
  const longAgo = new Date(Date.now() - 2 * 3_600_000);
  for (const path of others) fs.writeFileSync(path, '');
  for (const path of [left, used, ...others]) fs.utimesSync(path, longAgo, longAgo);
  const visitor = claimOf('job');
  await hintsOf(c, visitor);
  await c.claim([visitor]);
  await until(() => !fs.existsSync(left));
  await until(() => fs.existsSync(used));
  expect(fs.statSync(used).mtimeMs).toBeGreaterThan(longAgo.getTime());
  for (const path of others) expect(fs.existsSync(path)).toBe(true);
});

test('a wall clock that is far ahead of the files removes none that is listened at', async () => {
  const file = newFile();
  const listened: string[] = [];
  const watchFile: WatchFile = (path, ...rest) => {
    listened.push(path);
    return fs.watch(path, ...rest);
  };
  const [a, b] = [open(file), open(file, { watchFile })];
  const [holder, waiter] = [claimOf('job'), claimOf('job')];
  await hold(a, holder);
  // Whoever tidies up looks at all files in one go, and so at its own when this one is gone.
  const left = `${file}-wake-0123456789abcdef`;
  fs.writeFileSync(left, '');
  const ahead = Date.now() + 2 * 3_600_000;
  const wall = vi.spyOn(Date, 'now').mockReturnValue(ahead);
  onTestFinished(() => wall.mockRestore());
  const removed = vi.spyOn(fs, 'unlinkSync');
  onTestFinished(() => removed.mockRestore());
  const hints = await hintsOf(b, waiter);
  await b.claim([waiter]);
  await until(() => !fs.existsSync(left));
  expect(listened).toHaveLength(1);
  expect(removed.mock.calls.flat()).not.toContain(listened[0]);
  await a.release([holder]);
  await until(() => hints.length > 0);
});

test('closing removes the file', async () => {
  const { file, a, b } = await scene();
  // One at which it listens, and one at which the holder would find that somebody waits.
  expect(filesOf(file)).toHaveLength(2);
  await b.close();
  expect(filesOf(file)).toHaveLength(1);
  await a.close();
  expect(filesOf(file)).toEqual([]);
});

test('files that cannot be made cost nothing but speed', async () => {
  const made = vi.spyOn(fs, 'linkSync').mockImplementation(() => {
    throw Object.assign(new Error('not permitted'), { code: 'EPERM' });
  });
  onTestFinished(() => made.mockRestore());
  const { a, b, holder, waiter } = await scene();
  expect(await one(b.renew([waiter]))).toMatchObject({ state: 'waiting' });
  expect(await a.release([holder])).toEqual([true]);
  expect(await one(b.renew([waiter]))).toMatchObject({ state: 'held' });
});

test('lines that are no news are passed over', async () => {
  const waits = await scene();
  for (const name of filesOf(waits.file)) {
    fs.appendFileSync(name, 'garbage\n\n[1,"nobody"]\nnull\n[');
  }
  await handOver(waits);
});

test('what is written in pieces, or after the file was cut, is read as a whole', async () => {
  let changed = (): void => {};
  const silent: WatchFile = (_path, _options, listener) => {
    changed = listener;
    const watcher = Object.assign(new EventEmitter(), { close: () => {} });
    return watcher as unknown as ReturnType<WatchFile>;
  };
  const { file, waiter, hints } = await scene({ watchFile: silent });
  // The holder was told that somebody waits; the waiter's file is the empty one.
  const path = unused(file);
  const line = JSON.stringify([waiter.id, Number.MAX_SAFE_INTEGER, 'w 1000 1 - queue 500']);
  fs.appendFileSync(path, `\n${line.slice(0, 5)}`);
  changed();
  fs.appendFileSync(path, `${line.slice(5)}\n`);
  changed();
  expect(hints).toHaveLength(1);
  fs.truncateSync(path);
  changed();
  fs.appendFileSync(path, `${line}\n`);
  changed();
  expect(hints).toHaveLength(2);
  expect(hints).toMatchObject([{ state: 'waiting' }, { state: 'waiting' }]);
});

test('the files are open to whoever may use the database', async ({ file }) => {
  const [a, b] = [open(file), open(file)];
  await hold(a, claimOf('job'));
  fs.chmodSync(file, 0o660);
  const waiter = claimOf('job');
  await hintsOf(b, waiter);
  await b.claim([waiter]);
  expect(filesOf(file)).toHaveLength(2);
  for (const path of filesOf(file)) expect(fs.statSync(path).mode & 0o777).toBe(0o660);
});
