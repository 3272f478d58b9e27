/** A process of tasks that all want the same lock; what happened when, on the common clock. */
import { on } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { subjectAt } from '../stores/index.ts';
import { now } from './processes.ts';
import { socketBytes } from './sockets.ts';
import {
  type Acquire,
  contender,
  difference,
  type Release,
  type Subject,
  type Work,
} from './subject.ts';

export const MEMBER: string = import.meta.url;

/** How soon a task asks again after its library has given up. */
const PAUSE_MS = 5;
/** For everybody who still waits at the end; a queue is empty long before. */
const GRACE_MS = 500;

/** What the processes have to do. */
export interface Job {
  readonly contender: string;
  /** In all processes together. */
  readonly tasks: number;
  readonly holdMs: number;
  readonly forMs: number;
  /** Before a task asks. */
  readonly pauseMs?: number;
  /**
   * What happens until then does not count, nor what happens after `forMs`: a queue that has yet to
   * form asks for more than one that stands, and one that is emptied for less.
   */
  readonly settleMs: number;
  /** What goes over the sockets of the processes is counted too. */
  readonly bytes?: boolean;
}

/** The same for one of them. */
export interface OwnJob extends Job {
  readonly url: string;
  readonly resource: string;
}

/** By `now`. */
export type Turn = [asked: number, granted: number, released: number];

export interface Happened {
  readonly turns: readonly Turn[];
  /** In ns. */
  readonly waits: readonly number[];
  /** Waits that lasted beyond the end. */
  readonly late: readonly number[];
  /** How often the library gave up. */
  readonly failures: number;
  /** Some still waited a while after the end, and the process is gone. */
  readonly stuck: boolean;
  readonly counts: Work;
}

/** Does what a crew asks for, until that has gone or ends it. */
export async function member(): Promise<never> {
  // The coordinator is gone, or needs no more of us.
  process.once('disconnect', () => process.exit());
  const messages = on(process, 'message');
  const next = async (): Promise<unknown> => (await messages.next()).value[0];

  for (;;) {
    const job = (await next()) as OwnJob;
    const subject = await subjectAt(job.url);
    const connected = await contender(subject, job.contender)(job.url);
    // Scripts are loaded and connections made before anything counts.
    await (await connected.task(`${job.resource}:${process.pid}`)())();
    const acquires = Array.from({ length: job.tasks }, () => connected.task(job.resource));
    process.send?.('ready');
    await next();
    const counting = counted(subject, job);
    const happened: Happened = { ...(await compete(job, acquires)), counts: await counting };
    await new Promise((resolve) => process.send?.(happened, resolve));
    // Some libraries go on trying even on a closed connection: such a process cannot go on.
    if (happened.stuck) process.exit();
    await connected.close();
  }
}

/** While what happens counts. */
async function counted({ counts }: Subject, job: OwnJob): Promise<Work> {
  const { forMs, settleMs, bytes } = job;
  if (!counts && !bytes) return {};
  const look = (): Work => ({ ...counts?.(), ...(bytes && { bytes: socketBytes() }) });
  await sleep(settleMs);
  const before = look();
  await sleep(forMs - settleMs);
  return difference(look(), before);
}

async function compete(
  job: OwnJob,
  acquires: readonly Acquire[],
): Promise<Omit<Happened, 'counts'>> {
  const all = { turns: [] as Turn[], waits: [] as number[], late: [] as number[] };
  const asking = new Map<Acquire, number>();
  let failures = 0;
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
    const counts = granted < end;
    if (counts && job.holdMs > 0) await sleep(job.holdMs);
    if (counts) all.turns.push([asked, granted, now()]);
    await release();
    return granted - asked;
  };
  const loop = async (acquire: Acquire): Promise<void> => {
    while (now() < end) {
      if (job.pauseMs !== undefined) await sleep(job.pauseMs);
      const wait = await turn(acquire);
      (now() < end ? all.waits : all.late).push(wait);
    }
  };

  await Promise.race([Promise.all(acquires.map(loop)), sleep(job.forMs + GRACE_MS)]);
  all.late.push(...Array.from(asking.values(), (asked) => now() - asked));
  return { ...all, failures, stuck: asking.size > 0 };
}
