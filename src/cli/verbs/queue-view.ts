/** Formats a queue for people and programs. */
import { styleText } from 'node:util';
import { MAX_PERMITS, type Member, type Queue } from '../../contract/store.ts';
import { plain } from '../text.ts';

const HEADINGS = ['', 'token', 'kind', 'host', 'pid', 'label', 'since', 'left'] as const;

/** Numbers that JSON cannot hold are strings; a read-write lock has no limit. */
export function queueJson({ resource, limit = MAX_PERMITS, holders, waiters }: Queue): object {
  return {
    resource,
    limit: limit < MAX_PERMITS ? limit : null,
    holders: holders.map(memberJson),
    waiters: waiters.map(memberJson),
  };
}

function memberJson({ number, kind, permits, holder, ttlMs, leftMs }: Member): object {
  const { host, pid, label = null, since } = holder;
  return {
    token: String(number),
    kind,
    permits: kind === 'permits' ? permits : 1,
    host,
    pid,
    label,
    since: new Date(since).toISOString(),
    ttlMs,
    leftMs: Math.round(leftMs),
  };
}

/** A heading, and a line per member: holders first, then waiters in order. */
export function queueLines(
  queue: Queue,
  coloured: boolean,
  columns: number = Number.POSITIVE_INFINITY,
): readonly string[] {
  const { resource, holders, waiters } = queue;
  const paint = (format: 'bold' | 'dim' | 'green', text: string): string =>
    coloured ? styleText(format, text, { validateStream: false }) : text;
  const heading = (counts: string): string =>
    paint('bold', plain(resource).slice(0, Math.max(0, columns - counts.length))) + counts;
  if (holders.length + waiters.length === 0) return [heading(': no holders, no waiters')];
  const rows = [
    ...holders.map((member) => ['holds', ...memberCells(member, queue)]),
    ...waiters.map((member) => ['waits', ...memberCells(member, queue)]),
  ];
  const widths = HEADINGS.map((heading, at) =>
    Math.max(heading.length, ...rows.map((row) => row[at]?.length ?? 0)),
  );
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, at) => cell.padEnd(widths[at] ?? 0))
      .join('  ')
      .trimEnd()
      .slice(0, columns);
  return [
    heading(`: ${holders.length} holding, ${waiters.length} waiting`),
    paint('dim', line(HEADINGS)),
    ...rows.map((row, at) => (at < holders.length ? paint('green', line(row)) : line(row))),
  ];
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
    what,
    plain(holder.host),
    String(holder.pid),
    plain(holder.label ?? ''),
    localTime(holder.since),
    `${(leftMs / 1000).toFixed(1)}s`,
  ];
}

function localTime(epochMs: number): string {
  const date = new Date(epochMs);
  const two = (n: number): string => String(n).padStart(2, '0');
  const day = [date.getFullYear(), two(date.getMonth() + 1), two(date.getDate())].join('-');
  return `${day} ${[date.getHours(), date.getMinutes(), date.getSeconds()].map(two).join(':')}`;
}
