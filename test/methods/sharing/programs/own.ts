/**
 * The commands of foreign-program.ts with the locks of this project. Arguments: the dialect, the
 * URL of its server, the ttl in ms, and the dialect's options as JSON. `held kind name` says
 * whether this thread has a lease that it has not lost.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { createLocks, type Lease } from 'holdfast';
import { openDialect } from './dialects.ts';

const [dialect = '', url = '', ttl = '', options = '{}'] = process.argv.slice(2);
const locks = createLocks(openDialect(dialect, url, JSON.parse(options)), { ttl: Number(ttl) });
const leases = new Map<string, Lease>();
const threads = new Map<string, Promise<void>>();

for await (const line of createInterface({ input: process.stdin })) {
  const [number = '', thread = '', verb = '', ...words] = line.split('\t');
  const answer = async (): Promise<void> => {
    const said = await command(thread, verb, words).then(
      (value) => ['ok', String(value)],
      (error) => ['failed', String(error).replace(/\s/g, ' ')],
    );
    process.stdout.write(`${[number, ...said].join('\t')}\n`);
  };
  threads.set(thread, (threads.get(thread) ?? Promise.resolve()).then(answer));
}
process.exit(0);

async function command(thread: string, verb: string, words: readonly string[]): Promise<unknown> {
  const [kind = '', name = '', ...more] = words;
  const key = `${thread} ${kind} ${name}`;
  switch (verb) {
    case 'version':
      return 'own';
    case 'acquire':
      return acquire(key, name, Number(more[0]));
    case 'release':
      return leases.get(key)?.release();
    case 'held':
      return leases.get(key)?.held ?? false;
    case 'count':
      return count(name, more[0] ?? '', Number(more[1]));
    default:
      throw new Error(`no command: ${verb}`);
  }
}

async function acquire(key: string, name: string, waitMs: number): Promise<boolean> {
  const mutex = locks.mutex(name);
  const patient = waitMs < 0 ? mutex.acquire() : mutex.acquire({ wait: waitMs }).catch(late);
  const lease = await (waitMs === 0 ? mutex.tryAcquire() : patient);
  if (lease) leases.set(key, lease);
  return lease !== null;
}

function late(error: { readonly code?: unknown }): null {
  if (error.code === 'ACQUIRE_TIMEOUT') return null;
  throw error;
}

async function count(name: string, file: string, ms: number): Promise<number> {
  let times = 0;
  for (const end = performance.now() + ms; performance.now() < end; times++) {
    await locks.mutex(name).run(async () => {
      await writeFile(file, String(Number(await readFile(file, 'utf8')) + 1));
    });
  }
  return times;
}
