/**
 * Wake-ups between processes: each listening process has one small file, and one watch on it.
 *
 * A sender appends lines to the files of exactly those whom they concern, and the kernel reports
 * the change at once and without polling. Nothing is missed before a process listens: it reads its
 * file from the beginning once the watch stands, and senders create a missing one. A process that
 * finds its own file removed makes a new one, so any process may remove a file that has seen no
 * writes for an hour. A line may still be lost (a full disk, an append in the very moment of
 * truncation), and makes no promise. Where the system has no watch left, the process polls its
 * file.
 * What would break it: a sender that keeps a file open, for it would write into a removed one.
 */
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import { dirname, join } from 'node:path';

export type WatchFile = (
  path: string,
  options: { readonly persistent: boolean },
  changed: () => void,
) => Pick<fs.FSWatcher, 'on' | 'close'>;

interface Parts {
  /** The database, beside which the files are; read once it is open. */
  readonly database: () => string;
  readonly received: (lines: readonly string[]) => void;
  readonly watch: WatchFile;
}

/** A file that has grown beyond this is emptied once it has been read. */
const MAX_BYTES = 64 * 1024;

/** A file without writes for so long is left over. */
const LEFT_OVER_MS = 3_600_000;

const POLL_MS = 10;

export class WakeFile {
  /** The name of the file. */
  readonly address: string = randomBytes(8).toString('hex');
  readonly #parts: Parts;
  #path = '';
  #fd: number | undefined;
  #watcher: ReturnType<WatchFile> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #offset = 0;

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  get #directory(): string {
    return `${this.#parts.database()}-wake`;
  }

  get listening(): boolean {
    return this.#fd !== undefined;
  }

  /** Starts to listen, unless it does already; receives what was sent before. */
  listen(): void {
    if (this.#fd !== undefined) return;
    this.#path = join(this.#directory, this.address);
    try {
      this.#fd = this.#openShared(this.#path);
    } catch (error) {
      return warn(`cannot listen at ${this.#path}`, error);
    }
    try {
      this.#watcher = this.#parts.watch(this.#path, { persistent: false }, this.#read);
      this.#watcher.on('error', this.#poll);
    } catch (error) {
      this.#poll(error);
    }
    this.#removeLeftOver();
    this.#read();
  }

  /** Lines for another process. */
  send(address: string, lines: readonly string[]): void {
    const path = join(this.#directory, address);
    try {
      const fd = this.#openShared(path);
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
    const directory = this.#directory;
    try {
      // Other processes may have sent something although this one has not listened.
      fs.rmSync(join(directory, this.address), { force: true });
      fs.rmdirSync(directory);
    } catch {
      // Other processes listen there, or none ever has.
    }
  }

  #stop(): void {
    this.#watcher?.close();
    clearInterval(this.#timer);
    this.#timer = undefined;
    if (this.#fd !== undefined) fs.closeSync(this.#fd);
    this.#watcher = undefined;
    this.#fd = undefined;
    this.#offset = 0;
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
    if (size < this.#offset) this.#offset = 0;
    const lines = size > this.#offset ? this.#take(this.#fd, size) : [];
    if (nlink === 0) {
      // Another process took it for left over; senders have made, or will make, a new one.
      this.#stop();
      this.listen();
    }
    return lines;
  }

  #take(fd: number, size: number): string[] {
    const bytes = Buffer.alloc(size - this.#offset);
    const count = fs.readSync(fd, bytes, 0, bytes.length, this.#offset);
    // A sender is still writing what stands behind the last line end.
    const end = bytes.lastIndexOf(10, count - 1) + 1;
    this.#offset += end;
    if (this.#offset > MAX_BYTES && fs.fstatSync(fd).size === this.#offset) {
      fs.ftruncateSync(fd);
      this.#offset = 0;
    }
    return bytes
      .toString('utf8', 0, end)
      .split('\n')
      .filter((line) => line !== '');
  }

  readonly #poll = (error: unknown): void => {
    warn('no file watch is left (on Linux, see fs.inotify.max_user_instances): polling', error);
    this.#watcher?.close();
    this.#watcher = undefined;
    this.#timer ??= setInterval(this.#read, POLL_MS).unref();
  };

  /** Opens a wake file, or makes one for all users that may use the database. */
  #openShared(path: string): number {
    const { O_RDWR, O_APPEND, O_CREAT } = fs.constants;
    try {
      return fs.openSync(path, O_RDWR | O_APPEND);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
    const mode = fs.statSync(this.#parts.database()).mode & 0o666;
    const directory = dirname(path);
    if (fs.mkdirSync(directory, { recursive: true })) {
      // Users that may read may enter; what is set for a group that shares the place stays.
      const special = fs.statSync(directory).mode & 0o7000;
      fs.chmodSync(directory, special | mode | ((mode & 0o444) >> 2));
    }
    const fd = fs.openSync(path, O_RDWR | O_APPEND | O_CREAT);
    fs.fchmodSync(fd, mode);
    return fd;
  }

  /** Process ids prove nothing, because containers may share the directory; age does. */
  #removeLeftOver(): void {
    const directory = dirname(this.#path);
    try {
      const before = Date.now() - LEFT_OVER_MS;
      for (const name of fs.readdirSync(directory)) {
        if (name === this.address) continue;
        const path = join(directory, name);
        if (fs.statSync(path).mtimeMs < before) fs.unlinkSync(path);
      }
    } catch {
      // Another process is tidying up as well; there is always a next time.
    }
  }
}

const warned = new Set<string>();

/** Warns once for each cause: wake-ups are then slower, but nothing is wrong. */
function warn(what: string, error: unknown): void {
  const { code = 'error' } = error as NodeJS.ErrnoException;
  if (warned.has(code)) return;
  warned.add(code);
  process.emitWarning(`holdfast: ${what} (${code}). Waiting claims are woken more slowly.`, {
    code: 'HOLDFAST_SQLITE_WAKE',
  });
}
