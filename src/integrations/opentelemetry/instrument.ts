import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { UsageError } from '../../base/errors.ts';
import { asGiven, callable, checkOptions, flag } from '../../base/options.ts';
import type { LockEventName, LockEvents } from '../../core/events.ts';
import type { Locks } from '../../locks.ts';
import type { MeterProvider, OpenTelemetry, TracerProvider } from './api.ts';
import { measuresOf } from './measures.ts';
import { type Listen, Recorder } from './recorder.ts';
import { Spans } from './spans.ts';

export interface InstrumentOptions {
  /** Only these locks. Default: all of the process, also of other copies of the package. */
  readonly locks?: Locks;
  /** Spans of waits and holds. Default true. */
  readonly spans?: boolean;
  /** Default true. */
  readonly metrics?: boolean;
  /**
   * The name of a resource in span names and as `holdfast.lock.name`, in metrics too: return one of
   * a few names, such as `invoice` for `invoice:4711`, because every name is a time series of its
   * own. Default: resources are not named.
   */
  readonly nameOf?: (resource: string) => string | undefined;
  /**
   * Puts the full name of the resource, and error messages, which contain it, on spans; never on
   * metrics. Default false, since names may identify people.
   */
  readonly resources?: boolean;
  /** Default: the one registered with the API. */
  readonly tracerProvider?: TracerProvider;
  /** Default: the one registered with the API. */
  readonly meterProvider?: MeterProvider;
}

const CHECKS = {
  locks: asGiven<Locks | undefined>,
  spans: flag(true),
  metrics: flag(true),
  nameOf: (given: InstrumentOptions['nameOf'], name: string) =>
    given === undefined ? undefined : callable(given, name),
  resources: flag(),
  tracerProvider: asGiven<TracerProvider | undefined>,
  meterProvider: asGiven<MeterProvider | undefined>,
};

/** The instrumentation scope. */
const SCOPE = 'holdfast';

/**
 * Reports every acquisition from now on to OpenTelemetry. The spans of a wait and of its hold are
 * children of the span that is active where the caller asks for the lock; inside `run` and
 * `tryRun`, the span of the hold is active. Of earlier acquisitions, only losses and
 * deadlocks are counted. Returns a function that stops the reports and ends open spans.
 *
 * @example
 * import * as api from '@opentelemetry/api';
 * import { instrument } from 'holdfast/opentelemetry';
 *
 * const stop = instrument(api, { nameOf: (resource) => resource.split(':')[0] });
 *
 * @throws UsageError
 */
export function instrument(api: OpenTelemetry, options: InstrumentOptions = {}): () => void {
  checkApi(api);
  const read = checkOptions(options, CHECKS, 'instrument');
  const { locks, nameOf, spans, metrics, resources } = read;
  const { tracerProvider = api.trace, meterProvider = api.metrics } = read;
  const tracing = { tracer: tracerProvider.getTracer(SCOPE), resources };
  const recorder = new Recorder({
    api,
    nameOf,
    spans: spans ? new Spans(api, tracing) : undefined,
    measures: metrics ? measuresOf(meterProvider.getMeter(SCOPE)) : undefined,
  });
  const stops = recorder.listen(listenerOf(locks));
  return () => {
    for (const stop of stops) stop();
    recorder.end();
  };
}

function listenerOf(locks: Locks | undefined): Listen {
  if (locks === undefined) return onChannel;
  if (typeof (locks as Partial<Locks>)?.on !== 'function') {
    throw new UsageError('locks must be what createLocks returned.');
  }
  return (name, listener) => locks.on(name, listener);
}

function onChannel<N extends LockEventName>(name: N, listener: (event: LockEvents[N]) => void) {
  const forward = (event: unknown): void => listener(event as LockEvents[N]);
  subscribe(`holdfast:${name}`, forward);
  return () => void unsubscribe(`holdfast:${name}`, forward);
}

function checkApi(api: OpenTelemetry): void {
  const { context, trace, metrics } = (api ?? {}) as Partial<OpenTelemetry>;
  const verbs = [context?.active, context?.with, trace?.setSpan, trace?.getTracer];
  if ([...verbs, metrics?.getMeter].every((verb) => typeof verb === 'function')) return;
  const how =
    "npm i @opentelemetry/api; import * as api from '@opentelemetry/api'; instrument(api)";
  throw new UsageError(`instrument takes the API of OpenTelemetry, 1.9 or newer: ${how}.`);
}
