/** Curator's mutex, in a Java program beside this one, whose times are on the same clock. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import type { Happened, OwnJob } from '../contended/crowd.ts';
import type { Contest } from '../contended/member.ts';
import { TTL_MS } from '../contender.ts';
import type { Candidate, Round } from '../result.ts';

export class Curator {
  readonly #process: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  /** The environment says how to start it. */
  constructor(url: string) {
    const [program = '', ...args] = JSON.parse(process.env.BENCH_CURATOR ?? '[]') as string[];
    const servers = url.replace('zookeeper://', '');
    this.#process = spawn(program, [...args, servers, String(TTL_MS)], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const { stdout } = this.#process;
    if (!stdout) throw new Error('Nothing is heard of Curator.');
    this.#lines = createInterface({ input: stdout })[Symbol.asyncIterator]();
  }

  /** Acquires and releases, each task a mutex of its own. */
  pairs(name: string, { tasks, pairs }: { tasks: number; pairs: number }): Candidate {
    const line = `pairs /curator/uncontended-${tasks} ${tasks} ${pairs}`;
    return { name, round: () => this.#ask(line) as Promise<Round> };
  }

  async contest({ resource, tasks, holdMs, forMs }: OwnJob): Promise<Contest> {
    const path = `/curator/${encodeURIComponent(resource)}`;
    await this.#ask(`crowd ${path} ${tasks} ${holdMs} ${forMs}`);
    return { compete: () => this.#ask('go') as Promise<Happened>, close: async () => {} };
  }

  async close(): Promise<void> {
    const ended = once(this.#process, 'exit');
    this.#process.stdin?.end();
    await ended;
  }

  async #ask(line: string): Promise<unknown> {
    this.#process.stdin?.write(`${line}\n`);
    const { value, done } = await this.#lines.next();
    if (done) throw new Error(`Curator has ended, asked for ${line}.`);
    return JSON.parse(value);
  }
}
