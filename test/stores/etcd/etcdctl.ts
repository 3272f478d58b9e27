/** etcd's own program, which takes locks and stands for election as programs in Go do. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { EtcdServer } from '../../servers/etcd-server.ts';
import { until } from '../../support/until.ts';

export class Etcdctl {
  readonly #process: ChildProcess;
  #said = '';

  /** It goes on until it is ended. */
  constructor(server: EtcdServer, ...args: readonly string[]) {
    const [program = '', ...before] = server.etcdctlCommand;
    this.#process = spawn(program, [...before, ...args], {
      env: { ...process.env, ETCDCTL_API: '3' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    this.#process.stdout?.on('data', (text) => (this.#said += String(text)));
  }

  /** The lines that it has printed: the key of a lock or of an office as soon as it has it. */
  get said(): string[] {
    return this.#said.split('\n').slice(0, -1);
  }

  async says(line: (text: string) => boolean): Promise<void> {
    await until('did etcdctl say it', async () => this.said.some(line));
  }

  /** It has the lock of this name. */
  holds(name: string): Promise<void> {
    return this.says((text) => /^[0-9a-f]+$/.test(text.replace(`${name}/`, '')));
  }

  /** As Ctrl-C does it: it gives back what it has. */
  stop(): Promise<void> {
    return this.#end('SIGINT');
  }

  /** It has no time to give anything back. */
  close(): Promise<void> {
    return this.#end('SIGKILL');
  }

  async #end(signal: 'SIGINT' | 'SIGKILL'): Promise<void> {
    this.#process.kill(signal);
    const { exitCode, signalCode } = this.#process;
    if (exitCode === null && signalCode === null) await once(this.#process, 'exit');
  }
}
