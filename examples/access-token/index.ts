/**
 * Four processes share one access token, and exactly one of them fetches the next when it runs out.
 *
 * The token endpoint takes each refresh token once. A process with a used one is taken for a
 * thief, and a real endpoint would log all four out. So it is not enough that they mostly do not
 * ask at the same time. `refresh` in worker.ts looks, takes a mutex, looks again, because
 * another process may have been faster, and only then asks.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { check } from '../shared/check.ts';
import { Crew } from '../shared/crew.ts';
import * as screen from '../shared/screen.ts';
import { openSharedStage } from '../shared/stage.ts';
import { TokenEndpoint } from './endpoint.ts';
import type { Known, WorkerPlan, WorkerReport } from './worker.ts';

const WORKERS = ['worker 1', 'worker 2', 'worker 3', 'worker 4'];
const PERIODS = 5;

const stage = openSharedStage();
const file = join(stage.folder, 'token.json');
const endpoint = new TokenEndpoint();
const url = await endpoint.listen();

let ready = 0;
let answered = 0;
/** How often each token was used, by its name. */
const used = new Map<string, number>();
const crew = new Crew<'rush' | 'work' | 'stop', WorkerReport>(
  new URL('./worker.ts', import.meta.url),
  (_name, report) => {
    if (report.event === 'ready') ready++;
    else answered++;
    if (report.event === 'used') used.set(report.access, (used.get(report.access) ?? 0) + 1);
  },
);
function runOut(): void {
  const { issued } = endpoint;
  const known: Known = { access: `access ${issued}`, refresh: `refresh ${issued}`, until: 0 };
  writeFileSync(file, JSON.stringify(known));
}

runOut();
for (const name of WORKERS) {
  const plan: WorkerPlan = { name, stage, endpoint: url, file };
  crew.start(name, plan);
}
await crew.until('all workers are there', () => ready === WORKERS.length);

crew.orderAll('rush');
await crew.until('all have asked', () => answered === WORKERS.length);
const { refused } = endpoint;
screen.say(`without a lock: ${WORKERS.length} requests at once, ${refused} refused as stolen`);

runOut();
used.clear();
const before = endpoint.issued;
crew.orderAll('work');
const tokens = (): number => endpoint.issued - before;
await crew.until(`${PERIODS} tokens were used`, () => used.size >= PERIODS);
crew.orderAll('stop');
await crew.until('all workers have gone home', () => crew.size === 0);
endpoint.close();

const uses = [...used.values()].reduce((sum, each) => sum + each, 0);
const requests = tokens() + endpoint.refused - refused;
const result = `${uses} uses of ${tokens()} tokens, for ${requests} requests to the endpoint`;
check(requests === tokens(), `with a lock: ${result}`);
