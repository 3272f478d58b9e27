/** The real SDK: what was told is kept in memory. */
import * as api from '@opentelemetry/api';
import { AsyncLocalStorageContextManager } from '@opentelemetry/context-async-hooks';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { type DataPoint, MeterProvider, MetricReader } from '@opentelemetry/sdk-metrics';
import {
  BasicTracerProvider,
  InMemorySpanExporter,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-base';
import { createLocks, detectDeadlocks, evict, type Locks, type LocksOptions } from 'holdfast';
import { memoryStore } from 'holdfast/memory';
import { type InstrumentOptions, instrument } from 'holdfast/opentelemetry';
import { expect, onTestFinished, type TestAPI, test } from 'vitest';
import { freePort } from '../../servers/ports.ts';

api.context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());

/** Collects when it is asked. */
class Reader extends MetricReader {
  protected override async onShutdown(): Promise<void> {}
  protected override async onForceFlush(): Promise<void> {}
}

export interface Told {
  readonly locks: Locks;
  readonly stop: () => void;
  /** Runs the work in a span of the caller's. */
  inSpan<T>(name: string, work: (span: api.Span) => Promise<T>): Promise<T>;
  /** Spans that have ended, in that order. */
  spans(): ReadableSpan[];
  /** What was measured: for each set of attributes the value, of histograms the count. */
  measured(metric: string): Promise<[api.Attributes, number][]>;
}

export type TellOptions = InstrumentOptions & Pick<LocksOptions, 'ttl'>;

export function tell({ ttl = '10s', locks: given, ...options }: TellOptions = {}): Told {
  const exporter = new InMemorySpanExporter();
  const spanProcessors = [new SimpleSpanProcessor(exporter)];
  const tracerProvider = new BasicTracerProvider({ spanProcessors });
  const reader = new Reader();
  const meterProvider = new MeterProvider({ readers: [reader] });
  const locks = given ?? createLocks(memoryStore(), { ttl });
  const stop = instrument(api, { locks, tracerProvider, meterProvider, ...options });
  onTestFinished(async () => {
    stop();
    if (!given) await locks.close({ drain: 0 });
    await Promise.all([tracerProvider.shutdown(), meterProvider.shutdown()]);
  });
  const tracer = tracerProvider.getTracer('test');
  return {
    locks,
    stop,
    spans: () => exporter.getFinishedSpans(),
    inSpan: (name, work) =>
      tracer.startActiveSpan(name, async (span) => {
        try {
          return await work(span);
        } finally {
          span.end();
        }
      }),
    async measured(metric) {
      const { resourceMetrics } = await reader.collect();
      const all = resourceMetrics.scopeMetrics.flatMap(({ metrics }) => metrics);
      const found = all.find(({ descriptor }) => descriptor.name === metric);
      const points: readonly DataPoint<number | { count: number }>[] = found?.dataPoints ?? [];
      return points.map(({ attributes, value }) => {
        return [attributes, typeof value === 'number' ? value : value.count];
      });
    },
  };
}

/** A test that gets what was told in it. */
export const it: TestAPI<{ readonly told: Told }> = test.extend<{ readonly told: Told }>({
  told: ({ task: _ }, give) => give(tell()),
});

/** A holder that is evicted. */
export async function loseOne(locks: Locks): Promise<void> {
  const { token, ended } = await locks.mutex('lost', { ttl: '9s' }).acquire();
  await evict(locks, 'lost', { token, reason: 'to see it counted', now: true });
  await ended;
}

/** Two tries on a store that has lost its memory. */
export async function putOff(options?: TellOptions): Promise<Told> {
  const store = memoryStore();
  const told = tell({ ...options, locks: createLocks(store) });
  store.forget();
  for (const name of ['a', 'b']) await told.locks.mutex(name).tryAcquire();
  return told;
}

/** A task that waits for what it holds. */
export async function deadlocked(options?: TellOptions): Promise<Told> {
  const told = tell({ ...options, locks: createLocks(memoryStore()) });
  detectDeadlocks(told.locks, { onDeadlock: 'reject', after: 20 });
  const lock = told.locks.mutex('a');
  const wait = lock.run(() => lock.acquire());
  await expect(wait).rejects.toMatchObject({ code: 'DEADLOCK' });
  return told;
}

/** An exporter that Prometheus could read, and what it would read. It ends with the test. */
export async function exportToPrometheus(): Promise<{
  readonly meterProvider: MeterProvider;
  page(): Promise<string>;
}> {
  const [host, port] = ['127.0.0.1', await freePort()];
  const exporter = new PrometheusExporter({ host, port, preventServerStart: true });
  await exporter.startServer();
  const page = async (): Promise<string> => (await fetch(`http://${host}:${port}/metrics`)).text();
  const meterProvider = new MeterProvider({ readers: [exporter] });
  onTestFinished(() => meterProvider.shutdown());
  return { meterProvider, page };
}
