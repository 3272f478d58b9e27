/**
 * Reports of other processes.
 *
 * Invariant: whatever a body says, it becomes no more than so many lines of text in the timeline,
 * and counts in the figures. Each field is checked for its type and size; a batch that was taken is
 * not taken again, by the numbers of its reports; and times are ages on the reporter's own clock,
 * so that neither its wall clock nor what it says can date a line later than now, nor the latency
 * of a request one line of a reporter before another.
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

/** No report is taken to be older, in ms: a week. */
const MAX_AGE_MS = 7 * 86_400_000;

const WHAT: ReadonlySet<unknown> = new Set<Report['what']>([
  ...(['granted', 'handed on', 'released', 'lost', 'missed'] as const),
]);

/** What is known of a reporter. */
interface Heard {
  /** The number of the report that comes next. */
  readonly next: number;
  /** The time of its last line. */
  last: number;
}

type Told = Pick<Watcher, 'report' | 'history' | 'shows'>;

export class Receiver {
  readonly #watcher: Told;
  readonly #heard = new Map<string, Heard>();

  constructor(watcher: Told) {
    this.#watcher = watcher;
  }

  /** @throws UsageError if it is not a `ReportBatch`. */
  receive(body: unknown, now: number): Answer {
    const { reporter, first, reports, now: sentAt, ...who } = readBatch(body);
    const { next, last } = this.#heard.get(reporter) ?? { next: first, last: 0 };
    const heard: Heard = { next: Math.max(next, first + reports.length), last };
    this.#heard.delete(reporter);
    this.#heard.set(reporter, heard);
    keepNewest(this.#heard, MAX_REPORTERS);
    // Beyond the prefix it is not told who reports.
    if (first > next && reports.some(({ resource }) => this.#watcher.shows(resource))) {
      this.#watcher.history.dropped(first - next, who, now);
    }
    reports.slice(Math.max(0, next - first)).forEach(({ at, ...report }) => {
      const age = Math.min(Math.max(0, sentAt - at), MAX_AGE_MS);
      heard.last = Math.min(now, Math.max(heard.last, now - age));
      this.#watcher.report(report, who, heard.last);
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
  return new UsageError(`The report's ${name} is missing or not valid.`);
}
