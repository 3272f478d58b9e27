/**
 * The part of `@opentelemetry/api` that is used here. The caller passes the module, so this package
 * loads nothing, and its types refer to no other package.
 */

/** The module `@opentelemetry/api`, 1.9 or newer. */
export interface OpenTelemetry {
  readonly metrics: MeterProvider;
  readonly context: {
    active(): Context;
    with<T>(context: Context, work: () => T): T;
  };
  readonly trace: TracerProvider & { setSpan(context: Context, span: Span): Context };
}

export interface TracerProvider {
  getTracer(name: string): Tracer;
}

export interface MeterProvider {
  getMeter(name: string): Meter;
}

export interface Context {
  getValue(key: symbol): unknown;
  setValue(key: symbol, value: unknown): Context;
  deleteValue(key: symbol): Context;
}

export interface Attributes {
  [name: string]: string | number;
}

export interface Span {
  setAttribute(name: string, value: string | number): unknown;
  setStatus(status: { code: number }): unknown;
  recordException(error: Error): void;
  end(): void;
}

export interface Tracer {
  startSpan(name: string, options: { attributes: Attributes }, context: Context): Span;
}

export interface InstrumentDescription {
  description: string;
  unit: string;
  advice?: { explicitBucketBoundaries: number[] };
}

export interface Counter {
  add(value: number, attributes: Attributes, context?: Context): void;
}

export interface Histogram {
  record(value: number, attributes: Attributes, context?: Context): void;
}

export interface Meter {
  createCounter(name: string, options: InstrumentDescription): Counter;
  createUpDownCounter(name: string, options: InstrumentDescription): Counter;
  createHistogram(name: string, options: InstrumentDescription): Histogram;
}
