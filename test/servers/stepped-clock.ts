import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { findProgram } from './programs.ts';

const SOURCE = fileURLToPath(new URL('stepped-clock.c', import.meta.url));

/** A wall clock that can be stepped, for servers that are started with its `env`. Linux only. */
export class SteppedClock {
  readonly env: Readonly<Record<string, string>>;
  readonly #folder: string;
  readonly #file: string;
  #offset = 0n;

  static async create(): Promise<SteppedClock> {
    const folder = mkdtempSync(join(tmpdir(), 'holdfast-clock-'));
    const [compiler, ...before] = await findProgram('cc');
    const library = join(folder, 'stepped-clock.so');
    const args = ['-shared', '-fPIC', '-nostdlib', '-o', library, SOURCE];
    await promisify(execFile)(compiler, [...before, ...args]);
    return new SteppedClock(folder, library);
  }

  private constructor(folder: string, library: string) {
    this.#folder = folder;
    this.#file = join(folder, 'offset');
    this.env = { LD_PRELOAD: library, HOLDFAST_CLOCK: this.#file };
    writeFileSync(this.#file, new BigInt64Array(1));
  }

  /** Steps the clock by so many ms, backwards if they are negative, at once. */
  step(ms: number): void {
    this.#offset += BigInt(Math.round(ms * 1_000));
    // Written in place: the servers have this very file before them.
    writeFileSync(this.#file, new BigInt64Array([this.#offset]), { flag: 'r+' });
  }

  close(): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
