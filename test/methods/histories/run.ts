/**
 * Histories of real processes: `node --import ./scripts/sources.mjs test/methods/histories/run.ts`.
 * `--histories` is how many, `--seconds` for how long each goes on, `--store` a URL, or
 * `redis`, `etcd`, `zookeeper`, `mongodb`, `table`, `consul`, `kubernetes`, `dynamodb`, `objects`,
 * `postgres`, `mariadb`, or the latter two with `-fast`, for an own server that suffers as well,
 * `--seed` the first; `--without lease` or `--without fence` makes a control, which has to be found
 * illegal.
 */
import { parseArgs } from 'node:util';
import { FAULTS, isLegal, type Judged, record } from './record.ts';
import {
  type Suffering,
  sufferingConsul,
  sufferingDynamodb,
  sufferingEtcd,
  sufferingKubernetes,
  sufferingMariadb,
  sufferingMongodb,
  sufferingObjects,
  sufferingPostgres,
  sufferingRedis,
  sufferingTable,
  sufferingZookeeper,
} from './suffering.ts';

const { values } = parseArgs({
  options: {
    histories: { type: 'string', default: '10' },
    seconds: { type: 'string', default: '5' },
    store: { type: 'string', default: 'sqlite:{folder}/locks.db' },
    seed: { type: 'string', default: '1' },
    without: { type: 'string' },
  },
});
const SUFFERING: Readonly<Record<string, () => Promise<Suffering>>> = {
  redis: sufferingRedis,
  postgres: () => sufferingPostgres('strict'),
  'postgres-fast': () => sufferingPostgres('fast'),
  mariadb: () => sufferingMariadb('strict'),
  'mariadb-fast': () => sufferingMariadb('fast'),
  etcd: sufferingEtcd,
  zookeeper: sufferingZookeeper,
  mongodb: sufferingMongodb,
  table: sufferingTable,
  consul: sufferingConsul,
  kubernetes: sufferingKubernetes,
  dynamodb: sufferingDynamodb,
  objects: sufferingObjects,
};
const suffering = await SUFFERING[values.store]?.();
const { store = values.store, server, ttlMs, env } = suffering ?? {};
const seconds = Number(values.seconds);
const first = Number(values.seed);
const without = values.without as 'lease' | 'fence' | undefined;

const all: Judged[] = [];
for (let seed = first; seed < first + Number(values.histories); seed++) {
  const judged = await record({ store, server, ttlMs, env, seconds, seed, without, keep: true });
  all.push(judged);
  const { lock, counter, operations, unknown, checkMs } = judged;
  const figures = `${operations} operations, ${unknown} unknown, ${checkMs.toFixed(0)} ms`;
  console.log(`seed ${seed}: locks ${lock.verdict}, counters ${counter.verdict}; ${figures}`);
  for (const { message } of [...lock.disorders, ...counter.disorders]) console.log(message);
  if (judged.logs) console.log(`The logs are in ${judged.logs}.`);
}

const sum = (of: (each: Judged) => number): number => all.reduce((n, each) => n + of(each), 0);
const verdicts = (of: (each: Judged) => string): string =>
  ['legal', 'illegal', 'unknown']
    .map((verdict) => `${sum((each) => Number(of(each) === verdict))} ${verdict}`)
    .join(', ');
const faults = FAULTS.map((fault) => {
  return `${fault} ${sum((each) => each.faults.filter((done) => done === fault).length)}`;
});
console.log(`
histories: ${all.length} of ${seconds} s
locks: ${verdicts(({ lock }) => lock.verdict)}
counters: ${verdicts(({ counter }) => counter.verdict)}
operations: ${sum(({ operations }) => operations)}, unknown ${sum(({ unknown }) => unknown)}
refused: tries ${sum(({ refused }) => refused)}, stale tokens ${sum(({ stale }) => stale)}
faults: ${faults.join(', ')}
checking: ${sum(({ checkMs }) => checkMs).toFixed(0)} ms`);
await suffering?.close();
process.exitCode = all.every(isLegal) ? 0 : 1;
