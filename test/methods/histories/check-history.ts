/**
 * Checks what really happened: holds recorded by any number of processes on one clock.
 *
 * A record is what its holder believed: from when it knew of the grant to when it last held. The
 * store's grant comes before and its end after, so beliefs that overlap prove a violation,
 * and what is reported is never due to a message on its way. For the same reason order is only
 * demanded where it can be known: between holds that exclude each other, and between a hold and a
 * request made after it. What would break it: times from clocks that do not compare.
 *
 * It judges holds, fair order included. Where tries were refused, requests got no answer or data
 * was guarded, see linearizability.ts.
 */

import type { Kind } from 'holdfast/store';
import { sameQueue } from '../../../src/contract/admission.ts';

/** One hold. Times are of any unit, on a clock that all processes share. */
export interface HoldRecord {
  readonly resource: string;
  readonly kind: Kind;
  readonly permits: number;
  readonly limit: number;
  readonly token?: bigint | undefined;
  /** Tokens of different lineages are not compared. */
  readonly lineage?: string | undefined;
  /** Just before it was asked for. */
  readonly requestedAt: number;
  /** It was seen waiting at this time; default `grantedAt`. */
  readonly queuedAt?: number | undefined;
  /** When its holder knew of the grant. */
  readonly grantedAt: number;
  /** When its holder last took it for held: just before the release, or when it found it lost. */
  readonly endedAt: number;
  /** It was promised its place in the queue. */
  readonly fair?: boolean | undefined;
  /** For people. */
  readonly process?: string | number | undefined;
}

/**
 * `times`: impossible in itself. `kind`: kinds at once that do not share a queue. `exclusive`: two
 * holders of a mutex or two writers at once. `shared`: a writer among readers. `permits`: more than
 * the limit. `tokens`: one used twice, or not growing. `fifo`: a fair claim was overtaken.
 */
export type HistoryRule = 'times' | 'kind' | 'exclusive' | 'shared' | 'permits' | 'tokens' | 'fifo';

export interface Violation {
  readonly rule: HistoryRule;
  readonly message: string;
  /** The offending records, in order of their grants. */
  readonly records: readonly HoldRecord[];
}

/**
 * All violations found; none for a correct history.
 *
 * @experimental
 */
export function checkHistory(records: Iterable<HoldRecord>): Violation[] {
  const byResource = new Map<string, HoldRecord[]>();
  const violations: Violation[] = [];
  for (const record of records) {
    const { requestedAt, queuedAt = requestedAt, grantedAt, endedAt } = record;
    if (!(requestedAt <= queuedAt && queuedAt <= grantedAt && grantedAt <= endedAt)) {
      violations.push(violation('times', 'was not requested, granted and ended in turn', [record]));
      continue;
    }
    const known = byResource.get(record.resource);
    if (known) known.push(record);
    else byResource.set(record.resource, [record]);
  }
  for (const each of byResource.values()) {
    each.sort((a, b) => a.grantedAt - b.grantedAt);
    violations.push(...checkOverlaps(each), ...checkTokens(each), ...checkOrder(each));
  }
  return violations;
}

function checkOverlaps(granted: readonly HoldRecord[]): Violation[] {
  const violations: Violation[] = [];
  let held: HoldRecord[] = [];
  for (const record of granted) {
    held = held.filter((other) => other.endedAt > record.grantedAt);
    const stranger = held.find((other) => !sameQueue(other.kind, record.kind));
    if (stranger) {
      violations.push(violation('kind', 'were held at once', [stranger, record]));
      held.push(record);
      continue;
    }
    held.push(record);
    const used = held.reduce((sum, each) => sum + each.permits, 0);
    const limit = Math.min(...held.map((each) => each.limit));
    if (held.length > 1 ? used > limit : record.permits > record.limit) {
      violations.push(violation(ruleOf(held), `were held at once: ${used} of ${limit}`, held));
    }
  }
  return violations;
}

function ruleOf(held: readonly HoldRecord[]): HistoryRule {
  const exclusive = held.filter(({ kind }) => kind === 'mutex' || kind === 'write');
  if (exclusive.length > 1) return 'exclusive';
  return exclusive.length === 1 ? 'shared' : 'permits';
}

/** A token is used once; who held before, or when it was asked for, has a lower one. */
function checkTokens(granted: readonly HoldRecord[]): Violation[] {
  const violations: Violation[] = [];
  for (const lineage of new Set(granted.map((record) => record.lineage))) {
    const all = granted.filter((each) => each.lineage === lineage && each.token !== undefined);
    const seen = new Map<bigint, HoldRecord>();
    for (const record of all) {
      const twin = seen.get(tokenOf(record));
      if (twin) violations.push(violation('tokens', 'have the same token', [twin, record]));
      seen.set(tokenOf(record), record);
    }
    const ended = new Highest(all, (each) => each.endedAt, tokenOf);
    const started = new Highest(all, (each) => each.grantedAt, tokenOf);
    const requested = [...all].sort((a, b) => a.requestedAt - b.requestedAt);
    const found = [
      ...all.map((record) => ended.above(record, record.grantedAt, excludes)),
      ...requested.map((record) => started.above(record, record.requestedAt, always)),
    ];
    // One pair may have been found both ways.
    const unlike = new Map<string, Violation>();
    for (const pair of found) {
      if (!pair) continue;
      const each = violation('tokens', 'have tokens that do not grow', pair);
      unlike.set(each.message, each);
    }
    violations.push(...unlike.values());
  }
  return violations;
}

/** Of fair claims that exclude each other, the one that surely queued up first goes first. */
function checkOrder(granted: readonly HoldRecord[]): Violation[] {
  const fair = granted.filter((record) => record.fair);
  const queued = new Highest(
    fair,
    (each) => each.queuedAt ?? each.grantedAt,
    (each) => each.grantedAt,
  );
  const violations: Violation[] = [];
  for (const record of [...fair].sort((a, b) => a.requestedAt - b.requestedAt)) {
    const pair = queued.above(record, record.requestedAt, excludes);
    if (pair) violations.push(violation('fifo', 'were granted out of turn', pair));
  }
  return violations;
}

type Pair = readonly [HoldRecord, HoldRecord];

/** The record with the highest value so far, among those whose moment has come; one a shape. */
class Highest<V extends number | bigint> {
  readonly #pending: HoldRecord[];
  readonly #moment: (record: HoldRecord) => number;
  readonly #value: (record: HoldRecord) => V;
  readonly #best = new Map<string, HoldRecord>();
  #next = 0;

  constructor(
    records: readonly HoldRecord[],
    moment: (record: HoldRecord) => number,
    value: (record: HoldRecord) => V,
  ) {
    this.#pending = [...records].sort((a, b) => moment(a) - moment(b));
    this.#moment = moment;
    this.#value = value;
  }

  /** One up to `time` with a higher value than the record's. Times must not decrease. */
  above(
    record: HoldRecord,
    time: number,
    matters: (a: HoldRecord, b: HoldRecord) => boolean,
  ): Pair | undefined {
    let next = this.#pending[this.#next];
    for (; next && this.#moment(next) <= time; next = this.#pending[++this.#next]) {
      const shape = `${next.kind} ${next.permits} ${next.limit}`;
      const best = this.#best.get(shape);
      if (!best || this.#value(next) > this.#value(best)) this.#best.set(shape, next);
    }
    for (const best of this.#best.values()) {
      if (best === record || !matters(best, record)) continue;
      if (this.#value(best) > this.#value(record)) {
        return best.grantedAt <= record.grantedAt ? [best, record] : [record, best];
      }
    }
    return undefined;
  }
}

function tokenOf(record: HoldRecord): bigint {
  return record.token ?? 0n;
}

/** They could never be held at once. */
function excludes(a: HoldRecord, b: HoldRecord): boolean {
  return a.permits + b.permits > Math.min(a.limit, b.limit);
}

function always(): boolean {
  return true;
}

function violation(rule: HistoryRule, what: string, records: readonly HoldRecord[]): Violation {
  const who = records.map(({ kind, token, process, grantedAt, endedAt }) => {
    const name = token === undefined ? kind : `${kind} ${token}`;
    return `${name} of ${process ?? 'somebody'} (${grantedAt} to ${endedAt})`;
  });
  const message = `${records[0]?.resource}: ${who.join(', ')} ${what}.`;
  return { rule, message, records };
}
