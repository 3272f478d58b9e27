/** What the functions of the guide are given: locks, work, and `after` as Next.js has it. */
import { createLocks, type Locks } from 'holdfast';
import { type MemoryStore, memoryStore } from 'holdfast/memory';
import { type SimulatedClock, simulatedClock } from 'holdfast/testkit';

export const clock: SimulatedClock = simulatedClock();
export const store: MemoryStore = memoryStore({ clock });
/** An instance of the function. */
export const locks: Locks = createLocks(store, { clock, maxTtl: '90s' });
/** Another one. */
export const others: Locks = createLocks(store, { clock, maxTtl: '90s' });

export const sent: string[] = [];
export const built: string[] = [];
/** How long the work takes. */
export const work: { ms: number } = { ms: 30_000 };

export async function render(id: string): Promise<string> {
  await clock.sleep(work.ms);
  return `pdf of ${id}`;
}

export async function send(pdf: string, order: { readonly token: bigint }): Promise<void> {
  sent.push(`${pdf}, ${order.token > 0n ? 'fenced' : 'unfenced'}`);
}

export async function buildReport(signal: AbortSignal): Promise<void> {
  await clock.sleep(work.ms);
  signal.throwIfAborted();
  built.push('report');
}

const later: Promise<void>[] = [];

/** Runs the work when the response is on its way, and keeps the function alive until it is done. */
export function after(task: () => Promise<void>): void {
  later.push(Promise.resolve().then(task));
}

export async function allDone(): Promise<void> {
  await Promise.allSettled(later.splice(0));
}
