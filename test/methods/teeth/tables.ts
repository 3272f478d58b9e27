import { basename } from 'node:path';
import { FAULTS } from './catalogue.ts';
import { KINDS, type Notice } from './kinds.ts';
import { cheapest, type Notices } from './record.ts';

/** A row for each fault: what noticed it first, and which kinds of runs notice it at all. */
export function faultTable(record: ReadonlyMap<string, Notices>): string {
  const rows = FAULTS.map(({ name, file, why }) => {
    const notices = record.get(name) ?? {};
    const marks = KINDS.map((kind) => mark(notices[kind]));
    return [`${name}: ${why}`, file.replace('src/', ''), describe(cheapest(notices)), ...marks];
  });
  return markdown(['fault, and what one would suffer', 'in', 'noticed first by', ...KINDS], rows);
}

/** How many faults each kind of run notices, and after how many seeds the simulation does. */
export function summary(record: ReadonlyMap<string, Notices>): string {
  const all = FAULTS.map(({ name }) => record.get(name) ?? {});
  const noticed = all.filter((notices) => cheapest(notices)).length;
  const kinds = KINDS.map((kind) => `${kind} ${all.filter((notices) => notices[kind]).length}`);
  const seeds = all.flatMap(({ simulation }) => simulation?.seed ?? []).sort((a, b) => a - b);
  const sentence = `${noticed} of ${FAULTS.length} faults are noticed: ${kinds.join(', ')}.`;
  if (seeds.length === 0) return sentence;
  const [middle, most] = [seeds[seeds.length >> 1], seeds.at(-1)];
  return `${sentence} The simulation needs ${middle} seeds in the median, ${most} at most.`;
}

function describe(notice: Notice | undefined): string {
  if (!notice) return '**nothing**';
  if (notice.seed !== undefined) return `seed ${notice.seed}`;
  const { file = '', test = 'cannot be loaded' } = notice;
  return `${basename(file, '.test.ts')}: ${test.replaceAll(' > ', ' ')}`;
}

function mark(notice: Notice | undefined): string {
  if (!notice) return '';
  return notice.seed === undefined ? '✓' : `${notice.seed}`;
}

function markdown(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const lines = [head, head.map(() => '---'), ...rows];
  const cell = (text: string): string => text.replaceAll('|', '\\|');
  return lines.map((cells) => `| ${cells.map(cell).join(' | ')} |`).join('\n');
}
