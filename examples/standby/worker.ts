/** A process that works while it has a seat, and else stands by for the next free one. */

import { once } from 'node:events';
import { connect } from 'holdfast/connect';
import { createElection } from 'holdfast/election';
import { hearOrders, leave, readPlan, tell } from '../shared/member.ts';
import type { Stage } from '../shared/stage.ts';

export interface WorkerPlan {
  readonly name: string;
  readonly stage: Stage;
  readonly election: string;
  readonly seats: number;
  readonly ttlMs: number;
}

/** `stop`: give up the seat, or the place in the queue, and go home. */
export type WorkerOrder = 'stop';

/** It has got a seat and begins to work. */
export interface WorkerReport {
  readonly event: 'active';
}

const { stage, name: label, ttlMs: ttl, election, seats } = readPlan<WorkerPlan>();
const locks = await connect(stage.store, { prefix: stage.prefix, label, ttl });
const candidate = createElection(locks, election, { seats }).campaign();

hearOrders<WorkerOrder>({ stop: () => void candidate.resign() });

for await (const { signal } of candidate) {
  await tell<WorkerReport>({ event: 'active' });
  if (!signal.aborted) await once(signal, 'abort');
}
await locks.close();
leave();
