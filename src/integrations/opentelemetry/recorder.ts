/**
 * Makes spans and metrics from the events of acquisitions.
 *
 * Invariant: `#courses` has an acquisition from `acquiring` until `missed`, or until `released` or
 * `lost` after `acquired`; so each count that goes up comes down, and every span ends. Without its
 * `acquiring` event, an acquisition is left out, because its caller is unknown; only its deadlock
 * and the loss of its lease are counted. Nothing here throws, whatever the user's functions do.
 * What would break it: taking the parent of a hold from the context that emits `acquired`. That
 * may be any: the release by another task, or the reply to a batch.
 */
import { performance } from 'node:perf_hooks';
import { show } from '../../base/show.ts';
import type { Acquisition, LockEventName, LockEvents } from '../../core/events.ts';
import type { WaitReason } from '../../store-calls/waiting.ts';
import type { Attributes, OpenTelemetry, Span } from './api.ts';
import { errorType, isFailure, type Measures } from './measures.ts';
import type { Spans, Traced } from './spans.ts';

/** As `locks.on`. */
export type Listen = <N extends LockEventName>(
  name: N,
  listener: (event: LockEvents[N]) => void,
) => () => void;

type NameOf = (resource: string) => string | undefined;

export interface RecorderParts {
  readonly api: OpenTelemetry;
  readonly nameOf: NameOf | undefined;
  readonly spans: Spans | undefined;
  readonly measures: Measures | undefined;
}

/** An acquisition in progress, or its hold. */
interface Course extends Traced {
  readonly waits: boolean;
  held: boolean;
  /** The span of the wait, then of the hold. */
  span: Span | undefined;
  /** When the wait or the hold began, in ms. */
  since: number;
  /** Why it waited, for a wait of a second or more. */
  why: WaitReason | undefined;
}

export class Recorder {
  readonly #parts: RecorderParts;
  readonly #courses = new Map<Acquisition, Course>();

  constructor(parts: RecorderParts) {
    this.#parts = parts;
  }

  /** Returns the functions that stop it. */
  listen(listen: Listen): (() => void)[] {
    const { spans, measures } = this.#parts;
    return [
      listen('acquiring', (event) => this.#begin(event)),
      listen('waiting', (event) => this.#wait(event)),
      listen('missed', (event) => this.#miss(event)),
      listen('acquired', (event) => this.#hold(event)),
      listen('released', ({ acquisition, handedOver }) =>
        this.#end(acquisition, handedOver ? 'handed-over' : 'released'),
      ),
      listen('lost', (event) => this.#lose(event)),
      ...(spans ? [listen('working', (event) => this.#work(event, spans))] : []),
      ...(measures
        ? [
            listen('heartbeat', (event) => countBeats(measures, event)),
            listen('quarantine', ({ store }) =>
              measures.quarantines.add(1, { 'holdfast.store': store }),
            ),
            listen('deadlock', ({ acquisition }) =>
              measures.deadlocks.add(1, this.#known(acquisition)),
            ),
          ]
        : []),
    ];
  }

  /** Ends open spans and counts. */
  end(): void {
    for (const course of this.#courses.values()) {
      course.span?.end();
      if (course.held) this.#count('leases', course, -1);
      else if (course.waits) this.#count('waiters', course, -1);
    }
    this.#courses.clear();
  }

  #begin({ acquisition, waits }: LockEvents['acquiring']): void {
    const { api, nameOf, spans } = this.#parts;
    const attributes = attributesOf(acquisition, nameOf);
    const traced = { acquisition, attributes, caller: api.context.active() };
    const span = spans?.wait(traced, waits);
    const since = performance.now();
    const course = { ...traced, waits, held: false, span, since, why: undefined };
    this.#courses.set(acquisition, course);
    if (waits) this.#count('waiters', course, 1);
  }

  #wait({ acquisition, waiting }: LockEvents['waiting']): void {
    const course = acquisition && this.#courses.get(acquisition);
    if (!course) return;
    course.why = waiting.why;
    if (course.span) this.#parts.spans?.waits(course.span, waiting);
  }

  #miss(missed: LockEvents['missed']): void {
    const course = this.#courses.get(missed.acquisition);
    if (!course) return;
    this.#courses.delete(missed.acquisition);
    this.#answer(course, missed);
    if (course.span) this.#parts.spans?.miss(course.span, missed);
    course.span?.end();
  }

  #hold(acquired: LockEvents['acquired']): void {
    const { spans, measures } = this.#parts;
    const { acquisition, handOff } = acquired;
    const course = this.#courses.get(acquisition);
    if (!course) return;
    const { attributes, caller } = course;
    this.#answer(course);
    if (handOff) {
      const type = { ...attributes, 'holdfast.hand_off.type': handOff };
      measures?.handOffs.add(1, type, caller);
    }
    this.#count('leases', course, 1);
    course.span?.end();
    course.span = spans?.hold(course, acquired);
    course.held = true;
    course.since = performance.now();
  }

  #work({ acquisition, within }: LockEvents['working'], spans: Spans): void {
    const { held, span } = this.#courses.get(acquisition) ?? {};
    if (held && span) within(spans.inside(span));
  }

  #lose({ acquisition, reason }: LockEvents['lost']): void {
    const { spans, measures } = this.#parts;
    const course = this.#courses.get(acquisition);
    measures?.losses.add(1, { ...this.#known(acquisition), 'holdfast.loss.reason': reason });
    if (course?.span) spans?.lose(course.span, reason);
    this.#end(acquisition, 'lost');
  }

  /** Also of an acquisition that began before this did. */
  #known(acquisition: Acquisition): Attributes {
    const known = this.#courses.get(acquisition)?.attributes;
    return known ?? attributesOf(acquisition, this.#parts.nameOf);
  }

  #end(acquisition: Acquisition, how: 'released' | 'handed-over' | 'lost'): void {
    const course = this.#courses.get(acquisition);
    if (!course) return;
    this.#courses.delete(acquisition);
    const { attributes, caller, since, span } = course;
    this.#count('leases', course, -1);
    const ended = { ...attributes, 'holdfast.hold.end': how };
    this.#parts.measures?.holdTime.record(secondsSince(since), ended, caller);
    span?.end();
  }

  /** A wait or a try has ended, with a lease unless it `missed`. */
  #answer(course: Course, missed?: LockEvents['missed']): void {
    const { waits, attributes, caller, since } = course;
    if (waits) this.#count('waiters', course, -1);
    const why = missed?.waiting?.why ?? course.why;
    const all: Attributes = { ...attributes, 'holdfast.outcome': missed?.why ?? 'acquired' };
    if (why) all['holdfast.wait.why'] = why;
    if (missed && isFailure(missed)) all['error.type'] = errorType(missed.error);
    const { measures } = this.#parts;
    measures?.acquisitions.add(1, all, caller);
    measures?.waitTime.record(secondsSince(since), all, caller);
  }

  #count(what: 'waiters' | 'leases', { attributes, caller }: Traced, change: 1 | -1): void {
    this.#parts.measures?.[what].add(change, attributes, caller);
  }
}

function countBeats(measures: Measures, beats: LockEvents['heartbeat']): void {
  const { store, claims, failed, cause } = beats;
  const known = { 'holdfast.store': store };
  if (claims > failed) measures.heartbeats.add(claims - failed, known);
  if (failed > 0) measures.heartbeats.add(failed, { ...known, 'error.type': errorType(cause) });
}

function secondsSince(since: number): number {
  return (performance.now() - since) / 1000;
}

/** For metrics and spans alike: few values each, whatever the names of resources. */
function attributesOf({ kind, store, resource }: Acquisition, nameOf: NameOf | undefined) {
  const known = { 'holdfast.lock.kind': kind, 'holdfast.store': store };
  const name = nameOf && named(resource, nameOf);
  return name === undefined ? known : { ...known, 'holdfast.lock.name': name };
}

/** An error in a listener of a channel would be an uncaught exception. */
function named(resource: string, nameOf: NameOf): string | undefined {
  try {
    const name = nameOf(resource);
    return typeof name === 'string' ? name : undefined;
  } catch (error) {
    process.emitWarning(`nameOf failed: ${show(error)}`);
    return undefined;
  }
}
