/**
 * What telemetry adds to an acquisition, on memory, where nothing else costs much: with nobody who
 * listens, with an API that has no SDK behind it, and with the SDK, whose spans and metrics end in
 * this process.
 */
import { performance } from 'node:perf_hooks';
import * as api from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { createLocks, type Locks } from 'holdfast';
import { memoryStore } from 'holdfast/memory';
import { instrument } from 'holdfast/opentelemetry';
import { type Candidate, type Round, report, takeTurns, timed } from './result.ts';

const ROUNDS = 7;
const TIMES = 20_000;
const TASKS = 64;

api.context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
const nowhere = { export: (_: unknown, done: (result: { code: 0 }) => void) => done({ code: 0 }) };
const shutDown = { shutdown: () => Promise.resolve() };
const tracerProvider = new BasicTracerProvider({
  spanProcessors: [new BatchSpanProcessor({ ...nowhere, ...shutDown })],
});
const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 60_000 });
const meterProvider = new MeterProvider({ readers: [reader] });

const ways: readonly (readonly [string, (locks: Locks) => void])[] = [
  ['nobody listens', () => {}],
  ['the API without an SDK', (locks) => void instrument(api, { locks })],
  [
    'the SDK, metrics alone',
    (locks) => {
      instrument(api, { locks, spans: false, meterProvider });
    },
  ],
  ['the SDK', (locks) => void instrument(api, { locks, tracerProvider, meterProvider })],
];
const all = ways.map(([name, listen]) => {
  const locks = createLocks(memoryStore());
  listen(locks);
  return { name, locks };
});

await measure('run, a lock taken alone', async (locks) => {
  const lock = locks.mutex('alone');
  return timed(TIMES, () => lock.run(() => {}));
});
await measure(`run, ${TASKS} tasks that hand one lock on`, async (locks) => {
  const lock = locks.mutex('one');
  const tasks = Array.from({ length: TASKS }, () => timed(TIMES / TASKS, () => lock.run(() => {})));
  const micros = (await Promise.all(tasks)).flatMap((each) => Array.from(each.micros));
  return { micros };
});
for (const { locks } of all) await locks.close();
await tracerProvider.shutdown();
await meterProvider.shutdown();

async function measure(
  what: string,
  deed: (locks: Locks) => Promise<{ readonly micros: ArrayLike<number> }>,
): Promise<void> {
  const candidates = all.map(
    ({ name, locks }): Candidate => ({
      name: `${what}: ${name}`,
      round: () => round(() => deed(locks)),
    }),
  );
  for (const outcome of await takeTurns(candidates, ROUNDS)) {
    report({
      figure: 'telemetry',
      what: outcome.name,
      measured: { 'a second': outcome.perSecond, 'µs each': 1e6 / outcome.perSecond },
      ratio: outcome.rateRatio,
    });
  }
}

async function round(deed: () => Promise<{ readonly micros: ArrayLike<number> }>): Promise<Round> {
  const since = performance.now();
  const { micros } = await deed();
  return { perSecond: micros.length / ((performance.now() - since) / 1000), micros };
}
