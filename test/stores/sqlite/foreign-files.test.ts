/**
 * What other users of the machine may put beside the database, or into it: nothing of it makes a
 * process change a file that Holdfast has not made.
 */
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, test } from 'vitest';
import type { Claim } from '../../../src/contract/store.ts';
import { until } from '../../support/until.ts';
import { claimOf, connect, directory, hold, newFile, one, open, scene } from './bed.ts';

const posix = process.platform !== 'win32';

/** Longer than a wake file may grow, and older than one may become. */
const PRECIOUS = 'a line of somebody else\n'.repeat(10_000);

function precious(): string {
  const path = join(directory(), 'precious.log');
  fs.writeFileSync(path, PRECIOUS);
  const longAgo = new Date(Date.now() - 2 * 3_600_000);
  fs.utimesSync(path, longAgo, longAgo);
  return path;
}

/** Where the process of this claim listens, or will. */
async function wakeFileOf(file: string, { id }: Claim): Promise<string> {
  const rows = (await connect(file)).prepare('SELECT origin FROM holdfast_claim WHERE id = ?');
  const [{ origin }] = rows.all(id) as [{ origin: string }];
  return `${file}-wake-${origin.slice(0, 16)}`;
}

test.runIf(posix)('a link in the place of a wake file leads nobody anywhere', async () => {
  const { file, a, b, holder, waiter, hints } = await scene();
  const wakeFile = await wakeFileOf(file, waiter);
  const target = precious();
  fs.symlinkSync(target, `${wakeFile}.new`);
  fs.renameSync(`${wakeFile}.new`, wakeFile);
  // The listener finds that its file is gone, and makes a new one.
  await until(() => fs.lstatSync(wakeFile).isFile());
  await a.release([holder]);
  await until(() => hints.length > 0);
  expect(await one(b.renew([waiter]))).toMatchObject({ state: 'held' });
  expect(fs.readFileSync(target, 'utf8')).toBe(PRECIOUS);
});

const TRAPS: Readonly<Record<string, (path: string, target: string) => void>> = {
  link: (path, target) => fs.symlinkSync(target, path),
  'second name of a file': (path, target) => fs.linkSync(target, path),
  'file of somebody else': (path, target) => fs.copyFileSync(target, path),
  pipe: (path) => void execFileSync('mkfifo', [path]),
  directory: (path) => fs.mkdirSync(path),
};

for (const [what, make] of Object.entries(TRAPS)) {
  test.runIf(posix)(`nobody writes to a ${what} where a process does not listen yet`, async () => {
    const file = newFile();
    const [a, b] = [open(file), open(file)];
    const [held, other] = [claimOf('job'), claimOf('other')];
    await hold(a, held);
    await hold(b, other);
    const target = precious();
    const path = await wakeFileOf(file, held);
    make(path, target);
    // The holder is told of its first waiter.
    expect(await one(b.claim([claimOf('job')]))).toMatchObject({ state: 'waiting' });
    expect(fs.readFileSync(target, 'utf8')).toBe(PRECIOUS);
    if (what === 'file of somebody else') expect(fs.readFileSync(path, 'utf8')).toBe(PRECIOUS);
  });
}

test.runIf(posix)('who listens where a trap is, removes it; one too large is emptied', async () => {
  const file = newFile();
  const [a, b] = [open(file), open(file)];
  const [held, waiter, other] = [claimOf('job'), claimOf('job'), claimOf('other')];
  await hold(a, held);
  await hold(b, other);
  const target = precious();
  const path = await wakeFileOf(file, other);
  fs.symlinkSync(target, path);
  let wakes = 0;
  await b.watch(waiter, () => wakes++);
  await b.claim([waiter]);
  expect(fs.lstatSync(path).isFile()).toBe(true);
  fs.truncateSync(path, 2 ** 40);
  await until(() => fs.statSync(path).size < 100);
  await a.release([held]);
  await until(() => wakes > 0);
  expect(fs.readFileSync(target, 'utf8')).toBe(PRECIOUS);
});

const WRONG: readonly (readonly [column: string, value: string | number])[] = [
  ['origin', '../../outside {}'],
  ['origin', ''],
  ['id', '$(touch pwned)'],
  ['id', 'two\nlines'],
  ['kind', 'other'],
];

test('a row that Holdfast has not written fails the step, and says which', async () => {
  const { file, a, holder, waiter } = await scene();
  const database = await connect(file);
  for (const [column, value] of WRONG) {
    const where = 'WHERE resource = (SELECT resource FROM holdfast_claim) AND admitted = 0';
    const [before] = database.prepare(`SELECT ${column} AS was FROM holdfast_claim ${where}`).all();
    const set = database.prepare(`UPDATE holdfast_claim SET ${column} = ? ${where}`);
    set.run(value);
    const error = await a.release([holder]).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'STORE', retryable: true, outcome: 'failed' });
    const { message } = error as Error;
    expect(message).toMatch(new RegExp(`wrong ${column}: .* Delete it`));
    expect(message).not.toContain(waiter.id);
    set.run((before as { was: string }).was);
  }
  expect(fs.existsSync(join(dirname(file), '..', 'outside'))).toBe(false);
  // One that has expired stops nobody, and goes.
  database.exec("UPDATE holdfast_claim SET origin = '/etc/x', expires = 0 WHERE admitted = 0");
  expect(await one(a.claim([claimOf('job')]))).toMatchObject({ state: 'waiting', ahead: 1 });
  const left = database.prepare("SELECT 1 FROM holdfast_claim WHERE origin = '/etc/x'");
  expect(left.all()).toEqual([]);
  expect(await a.release([holder])).toEqual([true]);
});
