/**
 * Reports of other processes.
 *
 * Invariant: whatever a body says, it becomes no more than so many lines of text in the timeline,
 * and counts in the figures. Each field is checked for its type and size; a batch that was taken is
 * not taken again, by the numbers of its reports; and times are ages on the reporter's own clock,
 * so that neither its wall clock nor what it says can date a line later than now.
 * What would break it: a field that is used before it is checked.
 */
import { UsageError } from '../../base/errors.ts';
import { keepNewest } from '../figures.ts';
import type { Answer } from '../http.ts';
import type { Watcher } from '../watcher.ts';
import type { Report, ReportBatch } from '../wire.ts';
import { MAX_DETAIL, MAX_REPORTS } from './outbox.ts';

/** Most reporters that are remembered, those that were heard last. */
const MAX_REPORTERS = 10_000;

/** Longest text that is a name of a process, a host or a resource. */
const MAX_TEXT = 1_024;

/** No report is taken to be older, in ms. */
const MAX_AGE_MS = 3_600_000;

const WHAT: ReadonlySet<unknown> = new Set<Report['what']>([
  ...(['granted', 'handed on', 'released', 'lost', 'missed'] as const),
]);

export class Receiver {
  readonly #watcher: Pick<Watcher, 'report' | 'history'>;
  /** The number of the report that comes next. */
  readonly #next = new Map<string, number>();

  constructor(watcher: Pick<Watcher, 'report' | 'history'>) {
    this.#watcher = watcher;
  }

  /** @throws UsageError if it is not a `ReportBatch`. */
  receive(body: unknown, now: number): Answer {
    const { reporter, first, reports, now: sentAt, ...who } = readBatch(body);
    const next = this.#next.get(reporter) ?? first;
    this.#next.delete(reporter);
    this.#next.set(reporter, Math.max(next, first + reports.length));
    keepNewest(this.#next, MAX_REPORTERS);
    if (first > next) this.#watcher.history.dropped(first - next, who, now);
    reports.slice(Math.max(0, next - first)).forEach(({ at, ...report }) => {
      const age = Math.min(Math.max(0, sentAt - at), MAX_AGE_MS);
      this.#watcher.report(report, who, now - age);
    });
    return { status: 204 };
  }
}

type Fields = Readonly<Record<string, unknown>>;

function readBatch(body: unknown): ReportBatch {
  const given = fieldsOf(body, 'body');
  const { reports } = given;
  if (!Array.isArray(reports) || reports.length > MAX_REPORTS) throw wrong('reports');
  return {
    reporter: text(given, 'reporter'),
    host: text(given, 'host'),
    pid: whole(given, 'pid'),
    label: given.label === null ? null : text(given, 'label'),
    first: whole(given, 'first'),
    now: number(given, 'now'),
    reports: reports.map((each) => readReport(fieldsOf(each, 'report'))),
  };
}

function readReport(given: Fields): ReportBatch['reports'][number] {
  const { what, token, detail, handOffMs } = given;
  if (!WHAT.has(what)) throw wrong('what');
  if (token !== null && !/^\d{1,30}$/.test(text(given, 'token'))) throw wrong('token');
  return {
    resource: text(given, 'resource'),
    what: what as Report['what'],
    token: token as string | null,
    detail: detail === null ? null : text(given, 'detail', MAX_DETAIL),
    handOffMs: handOffMs === null ? null : number(given, 'handOffMs'),
    at: number(given, 'at'),
  };
}

function fieldsOf(value: unknown, name: string): Fields {
  if (typeof value === 'object' && value !== null) return value as Fields;
  throw wrong(name);
}

function text(given: Fields, name: string, most: number = MAX_TEXT): string {
  const value = given[name];
  if (typeof value === 'string' && value.length <= most) return value;
  throw wrong(name);
}

function number(given: Fields, name: string): number {
  const value = given[name];
  if (typeof value === 'number' && Number.isFinite(value) && value >= 0) return value;
  throw wrong(name);
}

function whole(given: Fields, name: string): number {
  const value = number(given, name);
  if (Number.isSafeInteger(value)) return value;
  throw wrong(name);
}

function wrong(name: string): UsageError {
  return new UsageError(`The report has no such ${name} as one must have.`);
}
