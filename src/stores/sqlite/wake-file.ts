/**
 * Wake-ups between processes: each listening process has one small file, and one watch on it.
 *
 * A process that changes a queue appends, after the commit, the claims concerned to the files of
 * their processes, so that a departure wakes no others, however many wait. The kernel reports the
 * change at once and without polling. Nothing is missed between claiming and listening: the process
 * reads its file from the beginning once the watch stands, and senders create a missing one. A hint
 * is no more than a hint: the reader looks at the queue in the database, and the next heartbeat
 * makes good a lost hint (a full disk, an append in the very moment of truncation).
 * Where the system has no watch left, the process polls the size of the file while claims wait.
 * What would break it: appending before the commit, because the reader would find the old state.
 */
import { randomBytes } from 'node:crypto';
import fs from 'node:fs';
import { dirname, join } from 'node:path';
import type { Told } from './steps.ts';

export type WatchFile = (
  path: string,
  options: { readonly persistent: boolean },
  changed: () => void,
) => Pick<fs.FSWatcher, 'on' | 'close'>;

interface Parts {
  /** The database, beside which the files are; read once it is open. */
  readonly database: () => string;
  readonly received: (told: readonly Told[]) => void;
  /** Whether a claim of this process waits; without a watch, the file is polled only then. */
  readonly waiting: () => boolean;
  /** Addresses whose files are in use, however old they are. */
  readonly inUse: () => Promise<ReadonlySet<string>>;
  readonly watch: WatchFile;
}

/** A file that has grown beyond this is emptied once it has been read. */
const MAX_BYTES = 64 * 1024;

/** A file without writes for so long, which no live claim names, is left over. */
const LEFT_OVER_MS = 3_600_000;

const POLL_MIN_MS = 1;
const POLL_MAX_MS = 20;

export class WakeFile {
  /** The name of the file, by which claims say where they listen. */
  readonly address: string = randomBytes(8).toString('hex');
  readonly #parts: Parts;
  #path = '';
  #fd: number | undefined;
  #watcher: ReturnType<WatchFile> | undefined;
  #offset = 0;
  #polling = false;
  #pollMs = POLL_MIN_MS;
  #timer: NodeJS.Timeout | undefined;

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
    if (this.#fd !== undefined) return this.#polling ? this.#schedule() : undefined;
    this.#path = join(this.#directory, this.address);
    try {
      this.#fd = this.#openShared(this.#path);
    } catch (error) {
      return warn(`cannot listen at ${this.#path}`, error);
    }
    try {
      this.#watcher = this.#parts.watch(this.#path, { persistent: false }, () => this.#read());
      this.#watcher.on('error', (error) => this.#poll(error));
    } catch (error) {
      this.#poll(error);
    }
    void this.#removeLeftOver();
    this.#read();
  }

  /** Asks another process to look at these claims. */
  send(address: string, told: readonly Told[]): void {
    // The first line end closes what a sender that was killed may have left unfinished.
    const lines = told.map(({ seq, resource }) => `\n${JSON.stringify([seq, resource])}`);
    const path = join(this.#directory, address);
    try {
      const fd = this.#openShared(path);
      try {
        fs.writeSync(fd, `${lines.join('')}\n`);
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
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#watcher?.close();
    if (this.#fd !== undefined) fs.closeSync(this.#fd);
    this.#watcher = undefined;
    this.#fd = undefined;
    this.#offset = 0;
  }

  #read(): void {
    let told: Told[] = [];
    try {
      told = this.#news();
    } catch (error) {
      warn(`cannot read ${this.#path}`, error);
    }
    if (told.length > 0) this.#parts.received(told);
  }

  #news(): Told[] {
    if (this.#fd === undefined) return [];
    const { size, nlink } = fs.fstatSync(this.#fd);
    if (size < this.#offset) this.#offset = 0;
    const told = size > this.#offset ? this.#take(this.#fd, size) : [];
    if (nlink === 0) {
      // Another process took it for left over; senders have made, or will make, a new one.
      this.#stop();
      this.listen();
    }
    return told;
  }

  #take(fd: number, size: number): Told[] {
    const bytes = Buffer.alloc(size - this.#offset);
    const count = fs.readSync(fd, bytes, 0, bytes.length, this.#offset);
    // A sender is still writing what stands behind the last line end.
    const end = bytes.lastIndexOf(10, count - 1) + 1;
    this.#offset += end;
    if (this.#offset > MAX_BYTES && fs.fstatSync(fd).size === this.#offset) {
      fs.ftruncateSync(fd);
      this.#offset = 0;
    }
    this.#pollMs = POLL_MIN_MS;
    return bytes.toString('utf8', 0, end).split('\n').flatMap(parse);
  }

  #poll(error: unknown): void {
    if (!this.#polling) {
      warn('no file watch is left (on Linux, see fs.inotify.max_user_instances): polling', error);
    }
    this.#polling = true;
    this.#watcher?.close();
    this.#watcher = undefined;
    this.#schedule();
  }

  /** Polls more and more slowly while nothing comes, and not at all while no claim waits. */
  #schedule(): void {
    if (this.#timer || !this.#parts.waiting()) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#pollMs = Math.min(this.#pollMs * 1.2, POLL_MAX_MS);
      this.#read();
      this.#schedule();
    }, this.#pollMs);
    this.#timer.unref();
  }

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

  /** Process ids prove nothing, because containers may share the directory; age and use do. */
  async #removeLeftOver(): Promise<void> {
    const directory = dirname(this.#path);
    try {
      const before = Date.now() - LEFT_OVER_MS;
      const old = fs
        .readdirSync(directory)
        .map((name) => ({ name, path: join(directory, name) }))
        .filter(({ path }) => fs.statSync(path).mtimeMs < before);
      if (old.length === 0) return;
      const used = await this.#parts.inUse();
      for (const { name, path } of old) if (!used.has(name)) fs.unlinkSync(path);
    } catch {
      // Another process is tidying up as well; there is always a next time.
    }
  }
}

function parse(line: string): Told[] {
  if (line === '') return [];
  try {
    const [seq, resource] = JSON.parse(line) as [number, string];
    return [{ seq, resource, address: '' }];
  } catch {
    return [];
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
