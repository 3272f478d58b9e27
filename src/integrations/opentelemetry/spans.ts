import { isError } from '../../base/errors.ts';
import type { Acquisition, LockEvents } from '../../core/events.ts';
import type { Waiting } from '../../store-calls/waiting.ts';
import type { Attributes, Context, OpenTelemetry, Span, Tracer } from './api.ts';
import { errorType, isFailure } from './measures.ts';

/** SpanStatusCode.ERROR */
const ERROR = 2;

/** An acquisition, as spans and metrics show it. */
export interface Traced {
  readonly acquisition: Acquisition;
  readonly attributes: Attributes;
  /** The context that asked for the lock: the parent of both spans. */
  readonly caller: Context;
}

export class Spans {
  readonly #api: OpenTelemetry;
  readonly #tracer: Tracer;
  readonly #resources: boolean;

  constructor(
    api: OpenTelemetry,
    options: { readonly tracer: Tracer; readonly resources: boolean },
  ) {
    this.#api = api;
    this.#tracer = options.tracer;
    this.#resources = options.resources;
  }

  wait(traced: Traced, waits: boolean): Span {
    return this.#start(waits ? 'acquire' : 'try', traced);
  }

  hold(traced: Traced, { token, handOff, takeover }: LockEvents['acquired']): Span {
    const span = this.#start('hold', traced);
    span.setAttribute('holdfast.token', String(token));
    if (handOff) span.setAttribute('holdfast.hand_off.type', handOff);
    if (takeover) span.setAttribute('holdfast.takeover.reason', takeover.reason);
    return span;
  }

  waits(span: Span, { why, ahead, limit }: Waiting): void {
    span.setAttribute('holdfast.wait.why', why);
    if (ahead !== undefined) span.setAttribute('holdfast.wait.ahead', ahead);
    if (limit !== undefined) span.setAttribute('holdfast.wait.limit', limit);
  }

  miss(span: Span, missed: LockEvents['missed']): void {
    const { why, error, waiting } = missed;
    if (waiting) this.waits(span, waiting);
    span.setAttribute('holdfast.outcome', why);
    if (isFailure(missed)) this.#fail(span, errorType(error), error);
  }

  lose(span: Span, reason: string): void {
    span.setAttribute('holdfast.loss.reason', reason);
    this.#fail(span, 'LEASE_LOST', undefined);
  }

  /** Runs work with this span active. */
  inside(span: Span): (work: () => void) => void {
    const { context, trace } = this.#api;
    return (work) => context.with(trace.setSpan(context.active(), span), work);
  }

  #start(verb: string, { acquisition, attributes, caller }: Traced): Span {
    const { kind, permits, resource } = acquisition;
    const own: Attributes = { ...attributes };
    if (kind === 'permits') own['holdfast.permits'] = permits;
    if (this.#resources) own['holdfast.resource'] = resource;
    const name = attributes['holdfast.lock.name'] ?? '';
    return this.#tracer.startSpan(`${verb} ${kind} ${name}`.trim(), { attributes: own }, caller);
  }

  /** Error messages name the resource, so they are recorded only if resources are. */
  #fail(span: Span, type: string, error: unknown): void {
    span.setAttribute('error.type', type);
    span.setStatus({ code: ERROR });
    if (this.#resources && isError(error)) span.recordException(error);
  }
}
