/** An instance of a service: before it serves anybody, it sees to it that the schema is there. */
import { setTimeout as sleep } from 'node:timers/promises';
import { connect } from 'holdfast/connect';
import { hearOrders, leave, readPlan, tell } from '../shared/member.ts';
import { openDatabase } from '../shared/open-database.ts';
import type { Stage } from '../shared/stage.ts';
import { nextStep, STEP_COUNT, stepsDone } from './schema.ts';

export interface InstancePlan {
  readonly name: string;
  readonly stage: Stage;
  readonly file: string;
}

export type InstanceReport =
  | { readonly event: 'ready' }
  /** It took so many steps itself, and found the schema complete when it began to serve. */
  | { readonly event: 'serving'; readonly steps: number; readonly complete: boolean };

const { name, stage, file } = readPlan<InstancePlan>();
const database = await openDatabase(file);
const locks = await connect(stage.store, { prefix: stage.prefix, label: name });

/** Answers how many steps were left to take. */
async function migrate(): Promise<number> {
  return await locks.mutex('schema').run({ wait: '1m' }, async (lease) => {
    let steps = 0;
    while (nextStep(database, lease)) {
      steps++;
      // Real steps take minutes; there is a heartbeat meanwhile.
      await sleep(50, undefined, { signal: lease.signal });
    }
    return steps;
  });
}

hearOrders<'start'>({
  start: async () => {
    const steps = await migrate();
    const complete = stepsDone(database) === STEP_COUNT;
    await tell<InstanceReport>({ event: 'serving', steps, complete });
    await locks.close();
    database.close();
    leave();
  },
});
await tell<InstanceReport>({ event: 'ready' });
