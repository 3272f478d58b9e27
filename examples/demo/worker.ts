/** One standby worker: a process that works while it has a seat, and else waits for one. */
import { once } from 'node:events';
import { connect } from 'holdfast/connect';
import { hearOrders, leave, tell } from './member.ts';
import type { WorkerOrder, WorkerPlan, WorkerReport } from './worker-plan.ts';

const plan = JSON.parse(process.argv[2] ?? '') as WorkerPlan;
const { stage, name: label, ttlMs: ttl } = plan;
const locks = await connect(stage.store, { prefix: stage.prefix, label, ttl });
const candidate = locks.election(plan.election, { seats: plan.seats }).campaign();

hearOrders<WorkerOrder>({ stop: () => void candidate.resign() });

for await (const { signal } of candidate) {
  await tell<WorkerReport>({ event: 'active' });
  if (!signal.aborted) await once(signal, 'abort');
}
await locks.close();
leave();
