/**
 * Wake-ups between processes: each listening process has one small file beside the database, and
 * one watch on it. A sender appends lines to the files of exactly the processes concerned, and the
 * kernel reports the change at once and without polling. Nothing is missed before a process
 * listens: it reads its file from the beginning once the watch stands, and senders make a missing
 * one. A process that finds its own file removed makes a new one, so any process may remove a file
 * that has seen no writes for an hour. A line may still be lost (a full disk, an append in the very
 * moment of truncation), and makes no promise. Where the system has no watch left, the process
 * polls its file.
 *
 * Who may write what: users who may write the database can name any address in it, and like all who
 * may write its directory they can put links, pipes and foreign files at any name there.
 * Invariant: no process changes a file but those that a process of Holdfast has made for wake-ups.
 * An address has only digits, so its file is beside the database. A file gets its name once it has
 * the mark, which no user can give to a file without the right to write it. No link is followed;
 * only a regular file that begins with the mark is written, read or emptied, by the descriptor that
 * was checked. Only names that Holdfast makes are removed. So another user can stop wake-ups, and
 * can send false ones only with the right to write the database, where they could write the same.
 * What would break it: a second look at a path after its file was opened; a sender that keeps a
 * file open, since it would write into a removed one.
 */
import fs from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { randomId } from '../../base/random-id.ts';

export type WatchFile = (
  path: string,
  options: { readonly persistent: boolean },
  changed: () => void,
) => Pick<fs.FSWatcher, 'on' | 'close'>;

interface WakeFileParts {
  /** The database, beside which the files are; read once it is open. */
  readonly database: () => string;
  readonly received: (lines: readonly string[]) => void;
  readonly watch: WatchFile;
}

export const ADDRESS: RegExp = /^[0-9a-f]{16}$/;

/** Behind the name of the database and before the address. */
const INFIX = '-wake-';

const MARK: Buffer = Buffer.from('holdfast wakes\n');

/** A file that has grown beyond this is emptied once it has been read. */
const MAX_BYTES = 64 * 1024;

/** More is not read: heartbeats show the same. */
const MAX_UNREAD = 16 * MAX_BYTES;

const LEFT_OVER_MS = 3_600_000;

const POLL_MS = 10;

const { O_RDWR, O_APPEND, O_CREAT, O_EXCL } = fs.constants;

/** Windows knows neither. */
const SAFELY: number = (fs.constants.O_NOFOLLOW ?? 0) | (fs.constants.O_NONBLOCK ?? 0);

export class WakeFile {
  /** The end of the file's name. */
  readonly address: string = randomId().slice(0, 16);
  readonly #parts: WakeFileParts;
  #path = '';
  #fd: number | undefined;
  #watcher: ReturnType<WatchFile> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #offset = 0;

  constructor(parts: WakeFileParts) {
    this.#parts = parts;
  }

  get listening(): boolean {
    return this.#fd !== undefined;
  }

  /** Starts to listen, unless it does already; receives what was sent before. */
  listen(): void {
    if (this.#fd !== undefined) return;
    this.#path = this.#pathOf(this.address);
    try {
      this.#fd = this.#openOwn(this.#path);
    } catch (error) {
      return warn(`cannot listen at ${this.#path}`, error);
    }
    this.#offset = MARK.length;
    try {
      this.#watcher = this.#parts.watch(this.#path, { persistent: false }, this.#read);
      this.#watcher.on('error', this.#poll);
    } catch (error) {
      this.#poll(error);
    }
    this.#removeLeftOver();
    this.#read();
  }

  send(address: string, lines: readonly string[]): void {
    const path = this.#pathOf(address);
    try {
      const fd = this.#open(path);
      try {
        // The first line end closes what a sender that was killed may have left unfinished.
        fs.writeSync(fd, `\n${lines.join('\n')}\n`);
      } finally {
        fs.closeSync(fd);
      }
    } catch (error) {
      warn(`cannot write to ${path}`, error);
    }
  }

  close(): void {
    this.#stop();
    try {
      // Other processes may have sent something although this one has not listened.
      fs.rmSync(this.#pathOf(this.address), { force: true });
    } catch {
      // Another program has put something else there.
    }
  }

  #stop(): void {
    this.#watcher?.close();
    clearInterval(this.#timer);
    this.#timer = undefined;
    if (this.#fd !== undefined) fs.closeSync(this.#fd);
    this.#watcher = undefined;
    this.#fd = undefined;
  }

  #pathOf(address: string): string {
    return `${this.#parts.database()}${INFIX}${address}`;
  }

  readonly #read = (): void => {
    let lines: string[] = [];
    try {
      lines = this.#newLines();
    } catch (error) {
      warn(`cannot read ${this.#path}`, error);
    }
    if (lines.length > 0) this.#parts.received(lines);
  };

  #newLines(): string[] {
    if (this.#fd === undefined) return [];
    const { size, nlink } = fs.fstatSync(this.#fd);
    const cut = size < this.#offset;
    const lines = size > this.#offset ? this.#take(this.#fd, size) : [];
    if (nlink === 0 || cut) {
      // Another process took it for left over; senders have made, or will make, a new one.
      this.#stop();
      if (cut) fs.rmSync(this.#path, { force: true });
      this.listen();
    }
    return lines;
  }

  #take(fd: number, size: number): string[] {
    if (size - this.#offset > MAX_UNREAD) return this.#empty(fd);
    const bytes = Buffer.alloc(size - this.#offset);
    const count = fs.readSync(fd, bytes, 0, bytes.length, this.#offset);
    // A sender is still writing what stands behind the last line end.
    const end = bytes.lastIndexOf(10, count - 1) + 1;
    this.#offset += end;
    if (this.#offset > MAX_BYTES && fs.fstatSync(fd).size === this.#offset) this.#empty(fd);
    return bytes
      .toString('utf8', 0, end)
      .split('\n')
      .filter((line) => line !== '');
  }

  #empty(fd: number): [] {
    fs.ftruncateSync(fd, MARK.length);
    this.#offset = MARK.length;
    return [];
  }

  readonly #poll = (error: unknown): void => {
    warn('polls, for no file watch is left (on Linux, see fs.inotify.max_user_instances)', error);
    this.#watcher?.close();
    this.#watcher = undefined;
    this.#timer ??= setInterval(this.#read, POLL_MS).unref();
  };

  /** Nothing else may be in its place. */
  #openOwn(path: string): number {
    try {
      return this.#open(path);
    } catch {
      fs.rmSync(path, { force: true });
      return this.#open(path);
    }
  }

  #open(path: string): number {
    try {
      return openMarked(path);
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') throw error;
    }
    this.#make(path);
    return openMarked(path);
  }

  /** Makes a file for all users of the database; it is complete before it gets its final name. */
  #make(path: string): void {
    const mode = fs.statSync(this.#parts.database()).mode & 0o666;
    const first = this.#pathOf(randomId().slice(0, 16));
    const fd = fs.openSync(first, O_RDWR | O_CREAT | O_EXCL, mode);
    try {
      fs.writeSync(fd, MARK);
      fs.fchmodSync(fd, mode);
      fs.linkSync(first, path);
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
    } finally {
      fs.closeSync(fd);
      fs.rmSync(first, { force: true });
    }
  }

  /** Process ids prove nothing, because containers may share the directory; age does. */
  #removeLeftOver(): void {
    const before = Date.now() - LEFT_OVER_MS;
    const directory = dirname(this.#path);
    const start = basename(this.#pathOf(''));
    // The directory may have many other files.
    fs.readdir(directory, (_error, names = []) => {
      for (const name of names) {
        if (!name.startsWith(start) || !ADDRESS.test(name.slice(start.length))) continue;
        if (name === basename(this.#path)) continue;
        try {
          const path = join(directory, name);
          if (fs.lstatSync(path).mtimeMs < before) fs.unlinkSync(path);
        } catch {
          // Another process is tidying up as well, or it is not for this user to remove.
        }
      }
    });
  }
}

/** Opens a file that a process of Holdfast has made for wake-ups. */
function openMarked(path: string): number {
  const fd = fs.openSync(path, O_RDWR | O_APPEND | SAFELY);
  const start = Buffer.alloc(MARK.length);
  if (fs.fstatSync(fd).isFile()) fs.readSync(fd, start, 0, start.length, 0);
  if (start.equals(MARK)) return fd;
  fs.closeSync(fd);
  throw Object.assign(new Error('This file is not one of Holdfast.'), { code: 'not ours' });
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? 'error';
}

const warned = new Set<string>();

/** Warns once for each cause: wake-ups are then slower, but nothing is wrong. */
function warn(what: string, error: unknown): void {
  const code = codeOf(error);
  if (warned.has(code)) return;
  warned.add(code);
  const message = `The SQLite store ${what} (${code}). Waiting claims are woken more slowly.`;
  process.emitWarning(message, { type: 'HoldfastWarning', code: 'HOLDFAST_SQLITE_WAKE' });
}
