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
import type { Measures } from './measures.ts';
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
      listen('released', (event) => this.#end(event.acquisition, 'released')),
      listen('lost', (event) => this.#lose(event)),
      ...(spans ? [listen('working', (event) => this.#work(event, spans))] : []),
      ...(measures
        ? [
            listen('heartbeat', (event) => measures.beaten(event)),
            listen('quarantine', (event) => measures.putOff(event)),
            listen('deadlock', ({ acquisition }) => measures.stuck(this.#known(acquisition))),
          ]
        : []),
    ];
  }

  /** Ends open spans and counts. */
  end(): void {
    const { measures } = this.#parts;
    for (const course of this.#courses.values()) {
      course.span?.end();
      if (course.held) measures?.holds(course, -1);
      else if (course.waits) measures?.waits(course, -1);
    }
    this.#courses.clear();
  }

  #begin({ acquisition, waits }: LockEvents['acquiring']): void {
    const { api, nameOf, spans, measures } = this.#parts;
    const attributes = attributesOf(acquisition, nameOf);
    const traced = { acquisition, attributes, caller: api.context.active() };
    const span = spans?.wait(traced, waits);
    const since = performance.now();
    const course = { ...traced, waits, held: false, span, since, why: undefined };
    this.#courses.set(acquisition, course);
    if (waits) measures?.waits(course, 1);
  }

  #wait({ acquisition, waiting }: LockEvents['waiting']): void {
    const course = acquisition && this.#courses.get(acquisition);
    if (!course) return;
    course.why = waiting.why;
    if (course.span) this.#parts.spans?.waits(course.span, waiting);
  }

  #miss(missed: LockEvents['missed']): void {
    const { spans, measures } = this.#parts;
    const course = this.#courses.get(missed.acquisition);
    if (!course) return;
    this.#courses.delete(missed.acquisition);
    if (course.waits) measures?.waits(course, -1);
    const why = missed.waiting?.why ?? course.why;
    measures?.answered(course, { seconds: secondsSince(course.since), missed, why });
    if (course.span) spans?.miss(course.span, missed);
    course.span?.end();
  }

  #hold(acquired: LockEvents['acquired']): void {
    const { spans, measures } = this.#parts;
    const { acquisition, handOff } = acquired;
    const course = this.#courses.get(acquisition);
    if (!course) return;
    if (course.waits) measures?.waits(course, -1);
    measures?.answered(course, { seconds: secondsSince(course.since), why: course.why });
    if (handOff) measures?.handedOn(course, handOff);
    measures?.holds(course, 1);
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
    measures?.lost(this.#known(acquisition), reason);
    if (course?.span) spans?.lose(course.span, reason);
    this.#end(acquisition, 'lost');
  }

  /** Also of an acquisition that began before this did. */
  #known(acquisition: Acquisition): Attributes {
    const known = this.#courses.get(acquisition)?.attributes;
    return known ?? attributesOf(acquisition, this.#parts.nameOf);
  }

  #end(acquisition: Acquisition, how: 'released' | 'lost'): void {
    const { measures } = this.#parts;
    const course = this.#courses.get(acquisition);
    if (!course) return;
    this.#courses.delete(acquisition);
    measures?.holds(course, -1);
    measures?.ended(course, { how, seconds: secondsSince(course.since) });
    course.span?.end();
  }
}

function secondsSince(since: number): number {
  return (performance.now() - since) / 1000;
}

/** For metrics and spans alike: few values each, whatever the names of resources. */
function attributesOf(
  { kind, store, resource }: Acquisition,
  nameOf: NameOf | undefined,
): Attributes {
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
