/**
 * Five instances of a service start at once, exactly one migrates the schema, and the others wait
 * and find it done.
 *
 * "Are there steps left?" is asked under the mutex, so only one instance at a time can ask.
 * If an instance dies halfway, the next one goes on with the step after the last that is recorded.
 */
import { join } from 'node:path';
import { check } from '../shared/check.ts';
import { Crew } from '../shared/crew.ts';
import { openSharedStage } from '../shared/stage.ts';
import type { InstancePlan, InstanceReport } from './instance.ts';
import { STEP_COUNT } from './schema.ts';

const INSTANCES = ['instance 1', 'instance 2', 'instance 3', 'instance 4', 'instance 5'];

const stage = openSharedStage();
let ready = 0;
let incomplete = 0;
/** How many steps each has taken. */
const steps = new Map<string, number>();
const crew = new Crew<'start', InstanceReport>(
  new URL('./instance.ts', import.meta.url),
  (name, report) => {
    if (report.event === 'ready') ready++;
    else {
      steps.set(name, report.steps);
      if (!report.complete) incomplete++;
    }
  },
);
for (const name of INSTANCES) {
  const plan: InstancePlan = { name, stage, file: join(stage.folder, 'service.db') };
  crew.start(name, plan);
}
await crew.until('all instances are there', () => ready === INSTANCES.length);
crew.orderAll('start');
await crew.until('all instances serve', () => steps.size === INSTANCES.length);
await crew.until('all instances have gone home', () => crew.size === 0);

const active = [...steps].filter(([, taken]) => taken > 0);
const names = active.map(([name, taken]) => `${name} took ${taken} of ${STEP_COUNT} steps`);
check(active.length === 1 && active[0]?.[1] === STEP_COUNT, names.join(', '));
const found = INSTANCES.length - active.length;
check(incomplete === 0, `${found} found it done, and ${incomplete} served without the schema`);
