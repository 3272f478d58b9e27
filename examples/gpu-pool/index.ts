/**
 * Three machines train models on four GPUs, and a job that needs all four gets its turn.
 *
 * Small jobs need one GPU, and there are always more of them: a job that waited until four GPUs
 * happen to be free at the same time would wait for ever. In a semaphore with permits all wait in
 * one queue. When the big job is first, the small ones behind it wait until it has run.
 */
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'holdfast/connect';
import { check } from '../shared/check.ts';
import { Crew, PATIENCE_MS } from '../shared/crew.ts';
import * as screen from '../shared/screen.ts';
import { openSharedStage } from '../shared/stage.ts';
import type { MachinePlan, MachineReport } from './machine.ts';
import { Pool } from './pool.ts';

const MACHINES = ['machine 1', 'machine 2', 'machine 3'];
const GPUS = 4;
/** Small jobs for each machine, before the big one asks and after. */
const SMALL = 6;

const stage = openSharedStage();
const file = join(stage.folder, 'pool.db');
const pool = await Pool.open(file);
const seen = { ready: 0, done: 0 };
const crew = new Crew<'small' | 'big' | 'stop', MachineReport>(
  new URL('./machine.ts', import.meta.url),
  (_name, { event }) => {
    seen[event]++;
  },
);
for (const name of MACHINES) {
  const plan: MachinePlan = { name, stage, file, limit: GPUS };
  crew.start(name, plan);
}
await crew.until('all machines are there', () => seen.ready === MACHINES.length);

function orderSmall(): void {
  for (let n = 0; n < SMALL; n++) crew.orderAll('small');
}

orderSmall();
crew.order('machine 1', 'big');
const locks = await connect(stage.store, { prefix: stage.prefix });
await bigAsks();
const before = SMALL * MACHINES.length;
screen.say(`${before} small jobs have asked for a GPU each, and a big one for all ${GPUS}`);
orderSmall();
screen.say(`${before} more small jobs ask after it`);
const jobs = 2 * before + 1;
await crew.until('all jobs are done', () => seen.done === jobs);
crew.orderAll('stop');
await crew.until('all machines have gone home', () => crew.size === 0);
await locks.close();

const { names, most } = pool.history();
pool.close();
const place = names.findIndex((name) => name.startsWith('big'));
check(most <= GPUS, `never more than ${most} of ${GPUS} GPUs were busy`);
check(place <= before, `the big job was number ${place + 1} of ${names.length} to begin`);

/** Resolves when the big job is in the queue, or has been there. */
async function bigAsks(): Promise<void> {
  const isBig = (name?: string): boolean => name?.startsWith('big') === true;
  const since = performance.now();
  while (performance.now() - since < PATIENCE_MS) {
    const { waiters } = await locks.inspect('gpu');
    if (waiters.some(({ holder }) => isBig(holder.label))) return;
    if (pool.history().names.some(isBig)) return;
    await sleep(5);
  }
  throw new Error('The big job never asked.');
}
