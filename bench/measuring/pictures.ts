/** The pictures in docs/images: two panels of lines side by side, whose axes are logarithmic. */
import type { Result } from './result.ts';

/** Results as SVG, with where and when they were measured. */
export type Picture = (results: readonly Result[], conditions: string) => string;

interface Plot {
  readonly title: string;
  /** From and to are powers of ten. */
  readonly panels: readonly { title: string; column: string; from: number; to: number }[];
  /** What is counted from left to right. */
  readonly across: { readonly name: string; readonly from: number; readonly to: number };
  /** By the names of rows; the others are grey. */
  readonly colors: Readonly<Record<string, string>>;
  readonly dashed?: string;
}

/** How much is sold by each way of locking. */
export const whichPicture: Picture = drawing({
  title: 'Sales a second against the number of workers, by the kind of lock',
  panels: [
    { title: 'all want one row: sales a second', column: 'one row: sold/s', from: 1, to: 4 },
    { title: 'each any of 64 rows: sales a second', column: '64 rows: sold/s', from: 1, to: 4 },
  ],
  across: { name: 'workers', from: 0, to: 2 },
  colors: {
    'row lock': '#e5534b',
    'advisory lock': '#c69026',
    'version column': '#57ab5a',
    'holdfast, memory': '#2f81f7',
    'holdfast, PostgreSQL, fence': '#b083f0',
    'holdfast, PostgreSQL, fair, fence': '#d2a8ff',
  },
  dashed: 'no lock',
});

/** What a hand-off costs on each store. */
export const scalePicture: Picture = drawing({
  title: 'Requests and bytes of a hand-off against the number of tasks, by the store',
  panels: [
    { title: 'requests a hand-off', column: 'requests a hand-off', from: 0, to: 3 },
    { title: 'bytes a hand-off', column: 'bytes a hand-off', from: 2, to: 5 },
  ],
  across: { name: 'tasks', from: 0, to: 3 },
  colors: {
    Redis: '#e5534b',
    PostgreSQL: '#2f81f7',
    MySQL: '#39c5cf',
    SQLite: '#57ab5a',
    etcd: '#c69026',
    ZooKeeper: '#b083f0',
  },
});

const [WIDTH, HEIGHT] = [960, 440];
const [TOP, BOTTOM] = [48, 338];
/** Where panels begin and end. */
const SIDES = [
  [64, 448],
  [540, 924],
] as const;

/** The grey is readable on white and on black. */
const STYLE = `
  text { font: 12px system-ui, sans-serif; fill: #6e7781; }
  .title { font-weight: 600; }
  .grid { stroke: #8b949e; stroke-opacity: 0.25; }
  polyline { fill: none; stroke-width: 1.5; }
  .ours { stroke-width: 3.5; }
  .dashed { stroke-dasharray: 4 4; }
`;

function drawing({ title, panels, across, colors, dashed }: Plot): Picture {
  const line = (name: string, points: readonly string[]): string => {
    const kind = name.startsWith('holdfast') ? ' class="ours"' : '';
    const dashes = name === dashed ? ' class="dashed"' : '';
    const color = colors[name] ?? '#8b949e';
    return `<polyline${kind}${dashes} stroke="${color}" points="${points.join(' ')}"/>`;
  };
  return (results) => {
    const names = new Map<string, { at: number; measured: Result['measured'] }[]>();
    for (const { what, measured } of results) {
      const [, name = what, at = ''] = /^(.*), ([\d,]+) \w+$/.exec(what) ?? [];
      names.set(name, [...(names.get(name) ?? []), { at: Number(at.replace(',', '')), measured }]);
    }
    const parts = panels.flatMap(({ title: above, column, from, to }, n) => {
      const [left, right] = SIDES[n] ?? SIDES[0];
      const across10 = powers(across).map((power) => {
        const x = place(power, across, left, right);
        return text(`x="${x}" y="${BOTTOM + 20}" text-anchor="middle"`, count(power));
      });
      const up = powers({ from, to }).flatMap((power) => {
        const y = place(power, { from, to }, BOTTOM, TOP);
        const grid = `<line class="grid" x1="${left}" x2="${right}" y1="${y}" y2="${y}"/>`;
        return [grid, text(`x="${left - 8}" y="${y + 4}" text-anchor="end"`, count(power))];
      });
      const middle = left + (right - left) / 4;
      const lines = Array.from(names, ([name, rows]) => {
        // With few turns, no waiter may have got the lock from another; a file has no bytes.
        const known = rows.filter(({ measured }) => (measured[column] ?? 0) > 0);
        const points = known.map(({ at, measured }) => {
          const x = place(Math.log10(at), across, left, right);
          return `${x},${place(Math.log10(measured[column] ?? 0), { from, to }, BOTTOM, TOP)}`;
        });
        return line(name, points);
      });
      return [
        text(`class="title" x="${left}" y="${TOP - 20}"`, above),
        ...[...up, ...across10],
        text(`x="${middle}" y="${BOTTOM + 20}" text-anchor="middle"`, across.name),
        ...lines,
      ];
    });
    // In columns under both panels, two names in each.
    const legend = [...names.keys()].flatMap((name, n) => {
      const [x, y] = [24 + Math.floor(n / 2) * 186, HEIGHT - 44 + (n % 2) * 22];
      const sample = line(name, [`${x},${y - 4}`, `${x + 22},${y - 4}`]);
      return [sample, text(`x="${x + 28}" y="${y}"`, name)];
    });
    return svg(title, HEIGHT, [...parts, ...legend]);
  };
}

/** All pictures are as wide, and as dark. */
export function svg(title: string, height: number, parts: readonly string[]): string {
  const size = `viewBox="0 0 ${WIDTH} ${height}"`;
  const open = `<svg xmlns="http://www.w3.org/2000/svg" ${size} role="img">`;
  const head = [open, `<title>${title}</title>`, `<style>${STYLE}</style>`];
  return [...head, ...parts, '</svg>', ''].join('\n');
}

interface Range {
  readonly from: number;
  readonly to: number;
}

function powers({ from, to }: Range): number[] {
  return Array.from({ length: to - from + 1 }, (_, n) => from + n);
}

/** Where a value lies between two ends, to a tenth of a pixel. */
function place(value: number, { from, to }: Range, first: number, last: number): number {
  return Number((first + ((value - from) / (to - from)) * (last - first)).toFixed(1));
}

export function text(attributes: string, content: string): string {
  return `<text ${attributes}>${content}</text>`;
}

function count(power: number): string {
  return (10 ** power).toLocaleString('en');
}
