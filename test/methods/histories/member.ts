/** One of the processes that share a store, as the one who torments them sees it. */
import { type ChildProcess, fork } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
// biome-ignore lint/correctness/useImportExtensions: its types are in the other file.
import { textFile } from '../../../scripts/text-files.mjs';
import type { ClientOptions, News, Order } from './client.ts';

export interface MemberOptions {
  /** Of the program, as `bundledClient` has made it. */
  readonly program: string;
  readonly options: ClientOptions;
  readonly env: NodeJS.ProcessEnv | undefined;
  /** Is told how many operations were answered. */
  onAnswers(count: number): void;
  /** Is told of an end that nobody has asked for. */
  onEnd(error: Error): void;
}

/** Imports of Lua and SQL, as everywhere else. */
const TEXT_FILES = {
  name: 'text-files',
  setup(build: { onLoad(files: object, load: (file: { path: string }) => object): void }): void {
    build.onLoad({ filter: /\.(lua|sql)$/ }, ({ path }) => ({ contents: textFile(path) }));
  },
};

/** The program of the processes as one file in that folder, so that they start again soon. */
export async function bundledClient(folder: string): Promise<string> {
  const root = fileURLToPath(new URL('../../..', import.meta.url));
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const outfile = join(folder, 'client.mjs');
  await createRequire(import.meta.url)('esbuild').build({
    entryPoints: [fileURLToPath(new URL('client.ts', import.meta.url))],
    ...{ outfile, bundle: true, format: 'esm', platform: 'node', packages: 'external' },
    plugins: [TEXT_FILES],
    tsconfig: join(root, 'tsconfig.json'),
  });
  return outfile;
}

export class Member {
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  #killed = false;
  #working: { readonly done: Promise<void>; finish(): void } | undefined;

  static async start(of: MemberOptions): Promise<Member> {
    const child = fork(of.program, [JSON.stringify(of.options)], {
      execArgv: [],
      env: { ...process.env, ...of.env },
    });
    const member = new Member(child, of);
    await new Promise<unknown>((resolve) => {
      child.once('message', resolve);
      child.once('exit', resolve);
    });
    return member;
  }

  private constructor(child: ChildProcess, { onAnswers, onEnd }: MemberOptions) {
    this.#child = child;
    child.on('message', (news: News) => {
      if (news === 'ended') this.#working?.finish();
      else if (news !== 'ready') onAnswers(news.answered);
    });
    this.#ended = new Promise((resolve) => {
      child.once('exit', (code, signal) => {
        this.#working?.finish();
        resolve();
        if (!this.#killed) onEnd(new Error(`A client ended with ${code ?? signal}.`));
      });
    });
  }

  /** Begins with a history. */
  begin(history: string, log: string): void {
    let finish = (): void => {};
    const done = new Promise<void>((resolve) => (finish = resolve));
    this.#working = { done, finish };
    this.#tell({ history, log });
  }

  /** Resolves when it does nothing any more. */
  async end(): Promise<void> {
    this.#tell({ end: true });
    await this.#working?.done;
  }

  /** Its event loop will stand still for that long. */
  block(blockMs: number): void {
    this.#tell({ blockMs });
  }

  async stop(ms: number): Promise<void> {
    this.#child.kill('SIGSTOP');
    await new Promise((resolve) => setTimeout(resolve, ms));
    this.#child.kill('SIGCONT');
  }

  async kill(): Promise<void> {
    this.#killed = true;
    this.#child.kill('SIGKILL');
    await this.#ended;
  }

  /** Whoever is gone hears nothing any more. */
  #tell(order: Order): void {
    this.#child.send(order, () => {});
  }
}
