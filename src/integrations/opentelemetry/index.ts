export type {
  Attributes,
  Context,
  Counter,
  Histogram,
  InstrumentDescription,
  Meter,
  MeterProvider,
  OpenTelemetry,
  Span,
  Tracer,
  TracerProvider,
} from './api.ts';
export { type InstrumentOptions, instrument } from './instrument.ts';
