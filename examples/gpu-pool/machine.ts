/** A machine that trains models, large and small, on GPUs that it shares with other machines. */
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'holdfast/connect';
import { hearOrders, leave, readPlan, tell } from '../shared/member.ts';
import type { Stage } from '../shared/stage.ts';
import { Pool } from './pool.ts';

export interface MachinePlan {
  readonly name: string;
  readonly stage: Stage;
  readonly file: string;
  readonly limit: number;
}

export interface MachineReport {
  readonly event: 'ready' | 'done';
}

const { name: machine, stage, file, limit } = readPlan<MachinePlan>();
const pool = await Pool.open(file);
const locks = await connect(stage.store, { prefix: stage.prefix });
const gpus = locks.semaphore('gpu', { limit });
let jobs = 0;

async function train(kind: 'small' | 'big'): Promise<void> {
  jobs++;
  const job = `${kind} job ${jobs} of ${machine}`;
  const permits = kind === 'big' ? limit : 1;
  await gpus.run({ permits, label: job }, async ({ signal }) => {
    pool.begin(job, permits);
    await sleep(20 + 20 * Math.random(), undefined, { signal });
    pool.end(job);
  });
  await tell<MachineReport>({ event: 'done' });
}

hearOrders<'small' | 'big' | 'stop'>({
  small: () => void train('small'),
  big: () => void train('big'),
  stop: async () => {
    await locks.close();
    pool.close();
    leave();
  },
});
await tell<MachineReport>({ event: 'ready' });
