/**
 * What telemetry adds to an acquisition, on memory, where nothing else costs much: with nobody who
 * listens, with an API that has no SDK behind it, and with the SDK, whose spans and metrics end in
 * this process.
 */
import * as api from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from '@opentelemetry/sdk-metrics';
import { BasicTracerProvider, BatchSpanProcessor } from '@opentelemetry/sdk-trace-base';
import { createLocks } from 'holdfast';
import { memoryStore } from 'holdfast/memory';
import { instrument } from 'holdfast/opentelemetry';
import { atOnce, report, takeTurns } from '../measuring/result.ts';

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

type Options = Partial<Parameters<typeof instrument>[1]>;

const ways: Readonly<Record<string, Options | undefined>> = {
  'nobody listens': undefined,
  'the API without an SDK': {},
  'the SDK, metrics alone': { spans: false, meterProvider },
  'the SDK': { tracerProvider, meterProvider },
};

/** On memory, whatever the place. */
export async function measure(): Promise<void> {
  const all = Object.entries(ways).map(([name, options]) => {
    const locks = createLocks(memoryStore());
    if (options) instrument(api, { locks, ...options });
    return { name, locks };
  });
  for (const tasks of [1, TASKS]) {
    const what =
      tasks === 1 ? 'run, a lock taken alone' : `run, ${tasks} tasks that hand one lock on`;
    const candidates = all.map(({ name, locks }) => {
      const lock = locks.mutex(`${tasks}`);
      const once = (): Promise<void> => lock.run(() => {});
      return { name: `${what}: ${name}`, round: () => atOnce(tasks, TIMES, once) };
    });
    for (const { name, perSecond, rateRatio } of await takeTurns(candidates, ROUNDS)) {
      const measured = { 'a second': perSecond, 'µs each': 1e6 / perSecond };
      report({ what: name, measured, ratio: rateRatio });
    }
  }
  for (const { locks } of all) await locks.close();
  await tracerProvider.shutdown();
  await meterProvider.shutdown();
}
