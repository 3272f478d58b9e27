/** Formats a queue for people and programs. */
import { styleText } from 'node:util';
import {
  CANDIDATE,
  type Holder,
  IN_TRANSIT,
  MAX_PERMITS,
  type Member,
  type Queue,
} from '../contract/store.ts';
import { isCandidate, isElection } from '../operators/list.ts';
import { span } from '../operators/span.ts';
import type { PublishedWait, Waiting } from '../store-calls/waiting.ts';
import { plain, quote } from './output.ts';

const HEADINGS = ['', 'token', 'kind', 'host', 'pid', 'label', 'since', 'left'] as const;

export function waitersOf({ waiters }: Queue): readonly Member[] {
  return waiters.filter((waiter) => !isCandidate(waiter));
}

/** What a holder does, or a waiter; of a hold that was handed over, where it is. */
export function stateOf(member: Member, holds: boolean): string {
  if (member.holder.mark === IN_TRANSIT) return IN_TRANSIT;
  if (isCandidate(member)) return holds ? 'leads' : 'stands by';
  return holds ? 'holds' : 'waits';
}

/** Numbers that JSON cannot hold are strings; a read-write lock has no limit. */
export function queueJson(queue: Queue & { readonly waiting?: Waiting | undefined }): object {
  const { resource, limit = MAX_PERMITS, holders, waiters, waiting } = queue;
  return {
    resource,
    ...(isElection(queue) && { election: true }),
    limit: limit < MAX_PERMITS ? limit : null,
    holders: holders.map(memberJson),
    waiters: waiters.map(memberJson),
    why: waiting?.why ?? null,
    ...(waiting?.leftMs !== undefined && { leftMs: Math.round(waiting.leftMs) }),
  };
}

/** Until when the store grants nothing. */
export function lossText(leftMs: number): string {
  return `the store is new or has lost its data, and grants nothing for another ${span(leftMs)}`;
}

function memberJson({ number, kind, permits, holder, ttlMs, leftMs }: Member): object {
  return {
    token: String(number),
    kind,
    permits: kind === 'permits' ? permits : 1,
    ...holderJson(holder),
    ...(holder.mark === IN_TRANSIT && { inTransit: true }),
    ttlMs,
    leftMs: Math.round(leftMs),
  };
}

function holderJson({ host, pid, label, since }: Holder): object {
  return { host, pid, label: label ?? null, since: new Date(since).toISOString() };
}

/** A heading, and a line per member: holders first, then waiters in order. */
export function queueLines(
  queue: Queue,
  coloured: boolean,
  columns: number = Number.POSITIVE_INFINITY,
): readonly string[] {
  const { resource, limit = 1, holders, waiters, quarantineMs } = queue;
  const loss = quarantineMs === undefined ? [] : [lossText(quarantineMs)];
  const paint = (format: 'bold' | 'dim' | 'green', text: string): string =>
    coloured ? styleText(format, text, { validateStream: false }) : text;
  const heading = (counts: string): string =>
    paint('bold', plain(resource).slice(0, Math.max(0, columns - counts.length))) + counts;
  if (holders.length + waiters.length === 0) return [heading(': no holders, no waiters'), ...loss];
  const rows = [
    ...holders.map((member) => [stateOf(member, true), ...memberCells(member, queue)]),
    ...waiters.map((member) => [stateOf(member, false), ...memberCells(member, queue)]),
  ];
  const [headings = '', ...lines] = tableLines([HEADINGS, ...rows], columns);
  const counts = isElection(queue)
    ? `election, ${holders.length} of ${limit} leading, ${waiters.length} standing by`
    : `${holders.length} holding, ${waiters.length} waiting`;
  return [
    heading(`: ${counts}`),
    ...loss,
    paint('dim', headings),
    ...lines.map((line, at) => (at < holders.length ? paint('green', line) : line)),
  ];
}

export function tableLines(rows: readonly (readonly string[])[], columns?: number): string[] {
  const widths = (rows[0] ?? []).map((_, at) =>
    rows.reduce((most, row) => Math.max(most, row[at]?.length ?? 0), 0),
  );
  return rows.map((row) => {
    const cells = row.map((cell, at) => cell.padEnd(widths[at] ?? 0));
    return cells.join('  ').trimEnd().slice(0, columns);
  });
}

const SUMMARY_HEADINGS = ['name', 'used', 'held by', 'for', 'waiting', 'first for'] as const;

/** How many hold and wait in all of them. */
export function countsText(queues: readonly Queue[]): string {
  const waiting = queues.reduce((sum, queue) => sum + waitersOf(queue).length, 0);
  return `${queues.length} in use, ${waiting} waiting`;
}

/** Headings, and a line per queue: how much is taken, the first holder, and the first waiter. */
export function summaryLines(queues: readonly Queue[], columns?: number): readonly string[] {
  return tableLines([SUMMARY_HEADINGS, ...queues.map(summaryCells)], columns);
}

function summaryCells({ resource, limit, holders, waiters }: Queue): string[] {
  const parts = holders.map(({ kind, permits }) => (kind === 'permits' ? permits : 1));
  const used = parts.reduce((sum, part) => sum + part, 0);
  const [holder, ...others] = holders;
  const [waiter] = waiters;
  const standby = waiter && isCandidate(waiter);
  const more = others.length > 0 ? ` and ${others.length} more` : '';
  const bounded = limit !== undefined && limit < MAX_PERMITS;
  const age = (member?: Member): string => (member ? span(Date.now() - member.holder.since) : '');
  return [
    plain(resource),
    bounded ? `${used} of ${limit}` : String(used),
    holder ? `${isCandidate(holder) ? 'leader ' : ''}${whoText(holder)}${more}` : '',
    age(holder),
    `${waiters.length}${standby ? ' on standby' : ''}`,
    age(standby ? undefined : waiter),
  ];
}

/** `api-3 pid 81 (nightly.sh)` */
export function whoText({ holder: { host, pid, label } }: Pick<Member, 'holder'>): string {
  return `${plain(host)} pid ${pid}${label ? ` (${plain(label)})` : ''}`;
}

/** A deadlock: each wait of it, with what its task holds. */
export function cycleLines(cycle: readonly PublishedWait[]): readonly string[] {
  if (cycle.length === 0) return [];
  const lines = cycle.map(({ resource, holder, holds }) => {
    const held = holds.map((hold) => quote(hold.resource)).join(' and ');
    return `  ${whoText({ holder })} holds ${held} and waits for ${quote(resource)}`;
  });
  return ['deadlock:', ...lines];
}

/** A deadlock in one line, behind other text. */
export function cycleText(cycle: readonly PublishedWait[]): string {
  const names = cycle.map(({ resource }) => quote(resource));
  return cycle.length === 0 ? '' : `; a deadlock over ${names.join(', ')}`;
}

export function cycleJson(cycle: readonly PublishedWait[]): { readonly deadlock?: object } {
  if (cycle.length === 0) return {};
  const deadlock = cycle.map(({ resource, holder, holds }) => {
    const held = holds.map((hold) => ({ resource: hold.resource, token: String(hold.token) }));
    return { ...holderJson(holder), holds: held, waits: resource };
  });
  return { deadlock };
}

/** One member in one line, for reports of changes. */
export function memberLine(member: Member, queue: Queue): string {
  const [token, kind, host, pid, label] = memberCells(member, queue);
  return [token, kind, `${host}:${pid}`, label].filter(Boolean).join(' ');
}

function memberCells({ number, kind, permits, leftMs, holder }: Member, queue: Queue): string[] {
  const what = kind === 'permits' ? `${permits} of ${queue.limit ?? '?'}` : kind;
  return [
    String(number),
    isCandidate({ holder }) ? CANDIDATE : what,
    plain(holder.host),
    String(holder.pid),
    plain(holder.label ?? ''),
    localTime(holder.since),
    `${(leftMs / 1000).toFixed(1)}s`,
  ];
}

/** By hand: a locale that writes so may be missing. */
function localTime(epochMs: number): string {
  const date = new Date(epochMs);
  const two = (n: number): string => String(n).padStart(2, '0');
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join('-');
  return `${day} ${[date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':')}`;
}
