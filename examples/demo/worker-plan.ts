/** What a worker is told when it starts, later on, and what it reports. */
import type { Stage } from './stage.ts';

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
