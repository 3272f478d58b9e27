/** Opens the store that the command line names, or a file of the user's own. */
import { mkdirSync, statSync } from 'node:fs';
import os from 'node:os';
import { dirname, isAbsolute, join, posix, win32 } from 'node:path';
import { parseDuration } from '../base/duration.ts';
import { isLockError, messageOf } from '../base/errors.ts';
import { openStore } from '../connect.ts';
import type { Store } from '../contract/store.ts';
import { createLocks, type Locks } from '../locks.ts';
import { type LocksOptions, MAX_TTL_MS } from '../primitives/lock-options.ts';
import type { Arguments } from './arguments.ts';
import { quote } from './output.ts';
import { ExitError, STATUS } from './process/exit-status.ts';

interface OpenLocksTerms {
  readonly options?: LocksOptions;
  /** The verb only looks: it makes no file. */
  readonly looks?: boolean;
  /** How long a lock is to stay taken, in ms, if the store sets no limit itself. */
  readonly minHoldMs?: number | undefined;
}

/** @throws ExitError if there is no such store; the first request shows whether it replies. */
export async function openLocks(
  given: Arguments,
  { options = {}, looks = false, minHoldMs = 0 }: OpenLocksTerms = {},
): Promise<Locks> {
  const url = storeUrl(given, looks);
  if (looks) checkFile(url);
  const store: Store = await openStore(url).catch((cause: Error) => {
    // If the URL has no mistake, the path of its file cannot be resolved.
    const status = isLockError(cause) ? STATUS.configuration : STATUS.unreachable;
    throw new ExitError(status, cause.message, { cause });
  });
  if (store.traits.reach === 'process') {
    const why = 'is shared with no other process, so it would lock nothing';
    throw new ExitError(STATUS.configuration, `The ${store.name} store ${why}.`);
  }
  const limited = store.maxTtlMs !== undefined || minHoldMs <= MAX_TTL_MS;
  const maxTtl = Math.max(minHoldMs, parseDuration(options.ttl ?? 0));
  return createLocks(store, limited ? options : { ...options, maxTtl });
}

/** The URL of the store; a verb that looks makes no directory for it. */
export function storeUrl(given: Arguments, looks: boolean): string {
  const named = given.text('store') ?? (process.env.HOLDFAST_STORE || defaultUrl(looks));
  if (!isPath(named)) return named;
  if (!/^(\/\/)?[^/\\]*:[^/\\]*@/.test(named)) return `sqlite:${named}`;
  // No error repeats a password.
  const why = 'The store looks like USER:PASSWORD@HOST, without postgres:// or whatever it is.';
  throw new ExitError(STATUS.configuration, why);
}

/** A path has no scheme, and a slash or the ending of a database; C: is a drive. */
function isPath(named: string): boolean {
  if (/^[a-z][a-z0-9+.-]+:/i.test(named)) return false;
  return /[/\\]|\.(db|sqlite3?)$/i.test(named);
}

/** A verb that looks must not make the file that it looks into. */
function checkFile(url: string): void {
  const [, file] = /^sqlite:(?:\/\/)?([^?]+)/s.exec(url) ?? [];
  if (file === undefined || file.includes(':memory:')) return;
  try {
    statSync(file);
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code !== 'ENOENT') return;
    const why = `There is no file ${quote(file)}: no lock has been taken there yet.`;
    throw new ExitError(STATUS.unreachable, why);
  }
}

function defaultUrl(looks: boolean): string {
  const directory = stateDirectory(process.platform, process.env, homeDirectory);
  try {
    if (!looks) makeDirectory(directory);
  } catch (cause) {
    const why = `The directory for locks cannot be created: ${messageOf(cause)}.`;
    throw new ExitError(STATUS.unreachable, why);
  }
  return `sqlite:${join(directory, 'locks.db')}`;
}

/**
 * `homedir` believes $HOME even if it is empty, and throws for users unknown to the system.
 * @throws ExitError
 */
export function homeDirectory(system: Pick<typeof os, 'homedir' | 'userInfo'> = os): string {
  try {
    const given = system.homedir();
    return isAbsolute(given) ? given : system.userInfo().homedir;
  } catch (cause) {
    const why =
      'There is no home directory to keep locks in: name a file with --store sqlite:FILE.';
    throw new ExitError(STATUS.unreachable, why, { cause });
  }
}

/** Node's recursive `mkdir` never returns where a file system takes no directories, as /proc. */
function makeDirectory(path: string): void {
  const make = (): void => mkdirSync(path, { mode: 0o700 });
  try {
    make();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return;
    if (code !== 'ENOENT') throw error;
    makeDirectory(dirname(path));
    make();
  }
}

/** Where programs of this system keep their state. */
export function stateDirectory(
  platform: NodeJS.Platform,
  env: Readonly<Record<string, string | undefined>>,
  home: () => string,
): string {
  if (platform === 'win32') {
    return win32.join(env.LOCALAPPDATA || win32.join(home(), 'AppData', 'Local'), 'holdfast');
  }
  if (platform === 'darwin') return posix.join(home(), 'Library/Application Support/holdfast');
  const { XDG_STATE_HOME: state = '' } = env;
  // The specification says to ignore relative paths.
  const base = posix.isAbsolute(state) ? state : posix.join(home(), '.local/state');
  return posix.join(base, 'holdfast');
}
