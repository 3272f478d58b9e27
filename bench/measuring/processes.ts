/**
 * Processes for figures that need several: all start, report ready, begin at one word, and answer
 * once. They talk over the channel of `fork`, which costs nothing while nobody talks.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const HERE = fileURLToPath(import.meta.url);

/**
 * Calls what the module exports by this name, in a process of its own; one that fails ends the
 * figure.
 */
export function call(module: string, name: string, options: object = {}): ChildProcess {
  const file = join(HERE, '../..', `call${extname(HERE)}`);
  const child = fork(file, [module, name, JSON.stringify(options)], { stdio: 'inherit' });
  return child.once('exit', (code) => code && process.exit(code));
}

/** Starts one for each of the options, lets them begin together, and returns their answers. */
export async function together<A>(
  module: string,
  name: string,
  options: readonly object[],
): Promise<A[]> {
  const workers = options.map((each) => call(module, name, each));
  const heard = (): Promise<unknown[]> =>
    Promise.all(workers.map(async (worker) => (await once(worker, 'message'))[0]));
  await heard();
  const answers = heard();
  for (const worker of workers) worker.send('go');
  return (await answers) as A[];
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

/**
 * What a figure has done to the servers by whoever runs them: `killLeader` and `mend`. Returns when
 * it was done, by `now`.
 */
export function deed(name: string): Promise<number> {
  return new Promise((resolve) => {
    process.once('message', (at) => resolve(at as number));
    process.send?.(name);
  });
}

const folders: string[] = [];

/** An empty folder that is gone when this process ends. */
export function scratchFolder(): string {
  if (folders.length === 0) process.once('exit', removeFolders);
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-'));
  folders.push(folder);
  return folder;
}

function removeFolders(): void {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** In ns of the machine's monotonic clock, which all its processes share. */
export function now(): number {
  return Number(process.hrtime.bigint());
}
