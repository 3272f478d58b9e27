/**
 * Worker processes for figures that need several: all start, report ready, begin at one word, and
 * answer once. They talk over the channel of `fork`, which costs nothing while nobody talks.
 */
import { fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const HERE = fileURLToPath(import.meta.url);

export interface Worker<A> {
  readonly ready: Promise<void>;
  go(): void;
  readonly answer: Promise<A>;
}

/** Starts `bench/<script>` with these options. */
export function start<A>(script: string, options: object): Worker<A> {
  const file = join(HERE, '..', script + extname(HERE));
  const child = fork(file, [JSON.stringify(options)], { stdio: 'inherit' });
  let isReady = (): void => {};
  const ready = new Promise<void>((resolve) => {
    isReady = resolve;
  });
  const answer = new Promise<A>((resolve, reject) => {
    child.on('message', (message: 'ready' | { readonly answer: A }) => {
      if (message === 'ready') isReady();
      else resolve(message.answer);
    });
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`${script} ended with ${code}`)));
  });
  return { ready, answer, go: () => void child.send('go') };
}

/** Starts workers, lets them begin together, and brings their answers. */
export async function together<A>(script: string, options: readonly object[]): Promise<A[]> {
  const workers = options.map((each) => start<A>(script, each));
  await Promise.all(workers.map((worker) => Promise.race([worker.ready, worker.answer])));
  for (const worker of workers) worker.go();
  return Promise.all(workers.map((worker) => worker.answer));
}

/** The worker's side: what it was started with. */
export function workerOptions<O>(): O {
  return JSON.parse(process.argv[2] ?? '{}') as O;
}

/** The worker's side: says that it is ready and waits for the word. */
export function theWord(): Promise<void> {
  // Whoever started us is gone, perhaps because another worker failed.
  process.once('disconnect', () => process.exit());
  return new Promise((resolve) => {
    process.once('message', () => resolve());
    process.send?.('ready');
  });
}

/** The worker's side: answers, and lets the process end. */
export function giveAnswer(answer: unknown): void {
  process.send?.({ answer }, () => process.disconnect());
}

/** An empty folder that is gone when this process ends. */
export function scratchFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
