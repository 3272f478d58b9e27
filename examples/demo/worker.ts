/** One standby worker: a process that works while it has a seat, and else waits for one. */
import { once } from 'node:events';
import { createLocks } from 'holdfast';
import { sqliteStore } from 'holdfast/sqlite';
import { hearOrders, leave, tell } from './member.ts';
import type { WorkerOrder, WorkerPlan, WorkerReport } from './worker-plan.ts';

const plan = JSON.parse(process.argv[2] ?? '') as WorkerPlan;
const locks = createLocks(sqliteStore(plan.locksFile), { label: plan.name, ttl: plan.ttlMs });
const candidate = locks.election(plan.election, { seats: plan.seats }).campaign();

hearOrders<WorkerOrder>({ stop: () => void candidate.resign() });

for await (const { signal } of candidate) {
  await tell<WorkerReport>({ event: 'active' });
  if (!signal.aborted) await once(signal, 'abort');
}
await locks.close();
leave();
