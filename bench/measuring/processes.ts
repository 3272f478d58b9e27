/**
 * Processes for figures that need several: all start, report ready, begin at one word, and answer
 * once. They talk over the channel of `fork`, which costs nothing while nobody talks.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const HERE = fileURLToPath(import.meta.url);

/** Calls what the module exports by this name, in a process of its own. */
export function call(module: string, name: string, options: object = {}): ChildProcess {
  const file = join(HERE, '../..', `call${extname(HERE)}`);
  return fork(file, [module, name, JSON.stringify(options)], { stdio: 'inherit' });
}

/** Starts one for each of the options, lets them begin together, and returns their answers. */
export async function together<A>(
  module: string,
  name: string,
  options: readonly object[],
): Promise<A[]> {
  const workers = options.map((each) => {
    const child = call(module, name, each);
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
      child.once('exit', (code) => reject(new Error(`${name} ended with ${code}`)));
    });
    return { child, ready, answer };
  });
  await Promise.all(workers.map(({ ready, answer }) => Promise.race([ready, answer])));
  for (const { child } of workers) child.send('go');
  return Promise.all(workers.map(({ answer }) => answer));
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

/** An empty folder that is gone when this process ends. */
export function scratchFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-bench-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

export function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** In ns of the machine's monotonic clock, which all its processes share. */
export function now(): number {
  return Number(process.hrtime.bigint());
}
