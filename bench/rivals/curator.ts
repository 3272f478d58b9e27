/** Curator's mutex, in a Java program beside this one, whose times are on the same clock. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Happened } from '../measuring/member.ts';
import type { Round } from '../measuring/result.ts';
import { type Connected, TTL_MS } from '../measuring/subject.ts';

export const CURATOR = 'Curator';

class Program {
  readonly #process: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  /** The environment says how to start it. */
  constructor(url: string) {
    const { BENCH_CURATOR: command } = process.env;
    if (!command) throw new Error('BENCH_CURATOR names no program.');
    const [java = '', ...args] = JSON.parse(command) as string[];
    const servers = url.replace('zookeeper://', '');
    this.#process = spawn(java, [...args, servers, String(TTL_MS)], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const { stdout } = this.#process;
    if (!stdout) throw new Error('Nothing is heard of Curator.');
    this.#lines = createInterface({ input: stdout })[Symbol.asyncIterator]();
  }

  async ask(line: string): Promise<unknown> {
    this.#process.stdin?.write(`${line}\n`);
    const { value, done } = await this.#lines.next();
    if (done) throw new Error(`Curator has ended, asked for ${line}.`);
    return JSON.parse(value);
  }

  async close(): Promise<void> {
    const ended = once(this.#process, 'exit');
    this.#process.stdin?.end();
    await ended;
  }
}

/** Of this process, for all its rounds: a new one would have to be compiled again. */
let running: Program | undefined;

export function connectCurator(url: string): Connected {
  running ??= new Program(url);
  const program = running;
  return {
    task: () => {
      throw new Error('Curator has tasks of its own.');
    },
    pairs: (tasks, pairs) =>
      program.ask(`pairs /curator/uncontended-${tasks} ${tasks} ${pairs}`) as Promise<Round>,
    async contest({ resource, tasks, holdMs, forMs }) {
      const path = `/curator/${encodeURIComponent(resource)}`;
      await program.ask(`crowd ${path} ${tasks} ${holdMs} ${forMs}`);
      const compete = async (): Promise<Happened> => {
        return { ...((await program.ask('go')) as Happened), counts: {} };
      };
      return { compete, close: async () => {} };
    },
    async close() {
      running = undefined;
      await program.close();
    },
  };
}
