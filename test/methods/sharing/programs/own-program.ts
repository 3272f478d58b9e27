/** Takes our own locks as it is told: see foreign-program.ts. Argument: a file with a store. */
import { readFileSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import { createLocks, type Lease, type Lock, type Store } from 'holdfast';
import { paced } from '../../../support/this-run.ts';

const [file = '', ...args] = process.argv.slice(2);
const { open } = (await import(pathToFileURL(file).href)) as {
  readonly open: (...args: readonly string[]) => Store;
};
const locks = createLocks(open(...args));

/** Those of each thread, by kind and name. */
const leases = new Map<string, Lease>();
const threads = new Map<string, Promise<void>>();

function lockOf(kind: string, name: string, ttl: number, fair = true): Lock {
  const options = { ttl, fair };
  if (kind === 'read' || kind === 'write') return locks.rwLock(name, options)[kind];
  // As in `permit` and `permit3`.
  const [, limit] = /^permits?(\d*)$/.exec(kind) ?? [];
  if (limit !== undefined) return locks.semaphore(name, { ...options, limit: Number(limit) || 1 });
  return locks.mutex(name, options);
}

async function acquire(thread: string, words: readonly string[]): Promise<string> {
  const [kind = '', name = '', wait = '', lease = ''] = words;
  const lock = lockOf(kind, name, Number(lease) || paced(1000));
  const way = wait === '-1' ? {} : { wait: Number(wait) };
  const got = wait === '0' ? await lock.tryAcquire() : await lock.acquire(way).catch(timedOut);
  if (got) leases.set([thread, kind, name].join(), got);
  return String(got !== null);
}

function timedOut(error: Error & { readonly code?: string }): null {
  if (error.code === 'ACQUIRE_TIMEOUT') return null;
  throw error;
}

async function count(words: readonly string[]): Promise<string> {
  const [kind = '', name = '', path = '', ms = ''] = words;
  let times = 0;
  for (const end = Date.now() + Number(ms); Date.now() < end; times++) {
    await lockOf(kind, name, 5000).run(async () => {
      writeFileSync(path, String(Number(readFileSync(path, 'utf8')) + 1));
    });
  }
  return String(times);
}

/** How often all of these tasks together counted, which hand the lock to each other. */
async function crowd(words: readonly string[]): Promise<string> {
  const [tasks = '', kind = '', name = '', path = '', ms = ''] = words;
  const lock = lockOf(kind, name, 5000, false);
  const end = Date.now() + Number(ms);
  let times = 0;
  const task = async (): Promise<void> => {
    for (; Date.now() < end; times++) {
      await lock.run(async () => {
        const number = Number(readFileSync(path, 'utf8'));
        await sleep(1);
        writeFileSync(path, String(number + 1));
      });
    }
  };
  await Promise.all(Array.from({ length: Number(tasks) }, task));
  return String(times);
}

async function command(thread: string, [verb, ...words]: readonly string[]): Promise<string> {
  const key = [thread, ...words].join();
  switch (verb) {
    case 'version':
      return 'own';
    case 'acquire':
      return acquire(thread, words);
    case 'release':
      await leases.get(key)?.release();
      return '';
    case 'holds':
      return String(leases.get(key)?.held ?? false);
    case 'count':
      return count(words);
    case 'crowd':
      return crowd(words);
    default:
      throw new Error(`no command: ${verb}`);
  }
}

function say(number: string, outcome: string, answer: string): void {
  process.stdout.write(`${[number, outcome, answer].join('\t')}\n`);
}

createInterface({ input: process.stdin })
  .on('line', (line) => {
    const [number = '', thread = '', ...words] = line.split('\t');
    const before = threads.get(thread) ?? Promise.resolve();
    const after = before
      .then(() => command(thread, words))
      .then(
        (answer) => say(number, 'ok', answer),
        (error: unknown) => say(number, 'failed', String(error).replace(/\s+/g, ' ')),
      );
    threads.set(thread, after);
  })
  .on('close', () => process.exit());
