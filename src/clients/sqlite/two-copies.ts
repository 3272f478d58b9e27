/**
 * Refuses a file that another copy of SQLite in this process has open.
 *
 * POSIX file locks belong to a process. Each copy of SQLite keeps account of its own locks, and
 * does not see another's: both write at once, and when one closes the file, the other's locks are
 * gone. An addon such as better-sqlite3 brings a copy with it. So when Holdfast opens a file for
 * the first time, and the process has it open already, the only loaded addon with a copy may be the
 * one that Holdfast opens it with. Linux shows both.
 * What it cannot see: other systems, a program that opens the file after Holdfast has, and other
 * threads, whose files are those of the process.
 */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { isMainThread } from 'node:worker_threads';
import { UsageError } from '../../base/errors.ts';
import { perProcess } from '../../base/per-process.ts';

/** Addons of better-sqlite3, sqlite3, libsql and their like, by their paths. */
const ADDON = /\/.*(?:sqlite|libsql).*\.node$/gim;

/** `own`: how many of the addons Holdfast opens files with. @throws UsageError */
export function refuseSecondCopy(file: string, own: number): void {
  if (process.platform !== 'linux' || !isMainThread) return;
  const identity = identityOf(file);
  if (identity === '' || ours().has(identity) || addons().size <= own || !isOpen(identity)) return;
  throw new UsageError(
    `This process has ${file} open already, and has loaded another copy of SQLite` +
      ` (${[...addons()].join(', ')}). Two copies do not see each other's file locks and damage` +
      ' the file. Pass { database }, a connection of the package that the program uses, or give' +
      ' the locks a file of their own.',
  );
}

/** Holdfast has opened this file itself, all its connections by the same copy. */
export function noteOpened(file: string): void {
  ours().add(identityOf(file));
}

function ours(): Set<string> {
  return perProcess('sqlite-files', () => new Set<string>());
}

function addons(): Set<string> {
  return new Set(orNone(() => readFileSync('/proc/self/maps', 'utf8')).match(ADDON));
}

function isOpen(identity: string): boolean {
  const open = orNone(() => readdirSync('/proc/self/fd').join(' ')).split(' ');
  return open.some((fd) => identityOf(`/proc/self/fd/${fd}`) === identity);
}

function identityOf(path: string): string {
  return orNone(() => {
    const { dev, ino } = statSync(path, { bigint: true });
    return `${dev}:${ino}`;
  });
}

/** Empty where the system does not say. */
function orNone(read: () => string): string {
  try {
    return read();
  } catch {
    return '';
  }
}
