/** A process of tasks that all want the same lock; what happened when, on the common clock. */
import { on } from 'node:events';
import type { Acquire, Connect, Release } from '../contender.ts';
import { sleep } from '../processes.ts';
import type { Happened, OwnJob, Turn } from './crowd.ts';

/** How soon a task asks again after its library has given up. */
const PAUSE_MS = 5;
/** For everybody who still waits at the end; a queue is empty long before. */
const GRACE_MS = 500;

/** Ready to begin. */
export interface Contest {
  compete(): Promise<Happened>;
  close(): Promise<unknown>;
}

/** Does what a crew asks for, until that has gone or ends it. */
export function member(connectOf: (contender: string) => Connect): Promise<never> {
  return memberOf((job) => contestOf(connectOf(job.contender), job));
}

/** The same for contests of any kind. */
export async function memberOf(prepare: (job: OwnJob) => Promise<Contest>): Promise<never> {
  // The coordinator is gone, or needs no more of us.
  process.once('disconnect', () => process.exit());
  const messages = on(process, 'message');
  const next = async (): Promise<unknown> => (await messages.next()).value[0];

  for (;;) {
    const { compete, close } = await prepare((await next()) as OwnJob);
    process.send?.('ready');
    await next();
    const happened = await compete();
    await new Promise((resolve) => process.send?.(happened, resolve));
    // Some libraries go on trying even on a closed connection: such a process cannot go on.
    if (happened.stuck) process.exit();
    await close();
  }
}

/** Among tasks of this process. */
export async function contestOf(connect: Connect, job: OwnJob): Promise<Contest> {
  const { task, close } = await connect(job.url);
  // Scripts are loaded and connections made before anything counts.
  await (await task(`${job.resource}:${process.pid}`)())();
  const acquires = (): Acquire[] => Array.from({ length: job.tasks }, () => task(job.resource));
  return { compete: () => compete(job, acquires()), close };
}

async function compete(job: OwnJob, acquires: readonly Acquire[]): Promise<Happened> {
  const all = { turns: [] as Turn[], waits: [] as number[], late: [] as number[] };
  const asking = new Map<Acquire, number>();
  let failures = 0;
  let acquisitions = 0;
  const end = now() + job.forMs * 1e6;

  const persist = async (acquire: Acquire): Promise<Release> => {
    for (;;) {
      try {
        return await acquire();
      } catch {
        failures++;
        await sleep(PAUSE_MS);
      }
    }
  };
  /** Answers the wait. Who comes after the end only empties the queue. */
  const turn = async (acquire: Acquire): Promise<number> => {
    const asked = now();
    asking.set(acquire, asked);
    const release = await persist(acquire);
    const granted = now();
    asking.delete(acquire);
    acquisitions++;
    const counts = granted < end;
    if (counts && job.holdMs > 0) await sleep(job.holdMs);
    if (counts) all.turns.push([asked, granted, now()]);
    await release();
    return granted - asked;
  };
  const loop = async (acquire: Acquire): Promise<void> => {
    while (now() < end) {
      const wait = await turn(acquire);
      (now() < end ? all.waits : all.late).push(wait);
    }
  };
  const drain = async (enough: number): Promise<void> => {
    while (now() < end && all.turns.length < enough) {
      const waits = await Promise.all(acquires.map(turn));
      if (now() < end) all.waits.push(...waits);
    }
  };

  await Promise.race([
    job.drained ? drain(job.drained) : Promise.all(acquires.map(loop)),
    sleep(job.forMs + GRACE_MS),
  ]);
  if (!job.drained) all.late.push(...Array.from(asking.values(), (asked) => now() - asked));
  return { ...all, acquisitions, failures, stuck: asking.size > 0 };
}

function now(): number {
  return Number(process.hrtime.bigint());
}
