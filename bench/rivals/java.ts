/** Locks in Java, in programs beside this one, whose times are on the same clock. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { clusterOf } from '../floors/hazelcast.ts';
import type { Happened } from '../measuring/member.ts';
import type { Round } from '../measuring/result.ts';
import { type Connect, TTL_MS } from '../measuring/subject.ts';

export const CURATOR = 'Curator';
export const FENCED_LOCK = 'FencedLock in Java';

export const connectCurator: Connect = connecting(CURATOR, (url) => [
  url.replace('zookeeper://', ''),
  String(TTL_MS),
]);

export const connectFencedLock: Connect = connecting(FENCED_LOCK, (url) => {
  const { clusterName, clusterMembers } = clusterOf(url);
  return [clusterName, ...clusterMembers];
});

class Program {
  readonly #name: string;
  readonly #process: ChildProcess;
  readonly #lines: AsyncIterator<string>;

  /** The environment says how to start it. */
  constructor(name: string, args: readonly string[]) {
    const { BENCH_JAVA: command } = process.env;
    if (!command) throw new Error('BENCH_JAVA names no program.');
    const [java = '', ...first] = JSON.parse(command) as string[];
    this.#name = name;
    this.#process = spawn(java, [...first, ...args], { stdio: ['pipe', 'pipe', 'inherit'] });
    const { stdout } = this.#process;
    if (!stdout) throw new Error(`Nothing is heard of ${name}.`);
    this.#lines = createInterface({ input: stdout })[Symbol.asyncIterator]();
  }

  async ask(line: string): Promise<unknown> {
    this.#process.stdin?.write(`${line}\n`);
    const { value, done } = await this.#lines.next();
    if (done) throw new Error(`${this.#name} has ended, asked for ${line}.`);
    return JSON.parse(value);
  }

  async close(): Promise<void> {
    const ended = once(this.#process, 'exit');
    this.#process.stdin?.end();
    await ended;
  }
}

/** One program for all rounds of this process: a new one would have to be compiled again. */
function connecting(name: string, argsOf: (url: string) => readonly string[]): Connect {
  let running: Program | undefined;
  return (url) => {
    running ??= new Program(name, argsOf(url));
    const program = running;
    return {
      task: () => {
        throw new Error(`${name} has tasks of its own.`);
      },
      pairs: (tasks, pairs) =>
        program.ask(`pairs uncontended-${tasks} ${tasks} ${pairs}`) as Promise<Round>,
      async contest({ resource, tasks, holdMs, pauseMs = -1, forMs }) {
        const name = encodeURIComponent(resource);
        await program.ask(`crowd ${name} ${tasks} ${holdMs} ${pauseMs} ${forMs}`);
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
  };
}
