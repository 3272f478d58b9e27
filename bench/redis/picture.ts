/**
 * Draws what the figure `redis/waiters` measured: what a hand-off costs against the number of those
 * who wait. Both axes are logarithmic.
 */
import type { Result } from '../result.ts';

interface Series {
  readonly name: string;
  readonly color: string;
  readonly dashed: boolean;
  readonly rows: readonly { readonly waiters: number; readonly measured: Result['measured'] }[];
}

interface Panel {
  readonly title: string;
  readonly column: string;
  /** Powers of ten. */
  readonly from: number;
  readonly to: number;
  readonly left: number;
}

const WIDTH = 960;
const HEIGHT = 440;
const TOP = 48;
const [PLOT_WIDTH, PLOT_HEIGHT] = [384, 290];
const PANELS: readonly Panel[] = [
  { title: 'commands an acquisition', column: 'commands an acquisition', from: 0, to: 4, left: 64 },
  { title: 'hand-off, median ms', column: 'gap median ms', from: -2, to: 3, left: 540 },
];
/** Waiters, as powers of ten. */
const [FEWEST, MOST] = [1, 3];

const COLORS: Readonly<Record<string, string>> = {
  holdfast: '#2f81f7',
  'floor: queue and message': '#8b949e',
  redlock: '#e5534b',
  'redis-semaphore': '#c69026',
  '@verrou/core': '#57ab5a',
  'redlock-universal': '#b083f0',
};

/** The grey is readable on white and on black. */
const STYLE = `
  text { font: 12px system-ui, sans-serif; fill: #6e7781; }
  .title { font-weight: 600; }
  .grid { stroke: #8b949e; stroke-opacity: 0.25; }
  polyline { fill: none; stroke-width: 1.5; }
  .ours { stroke-width: 3.5; }
  .dashed { stroke-dasharray: 4 4; }
`;

/** The picture as SVG. */
export function picture(results: readonly Result[]): string {
  const all = seriesOf(results);
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img">`,
    '<title>Commands and time of a hand-off against the number of waiters</title>',
    `<style>${STYLE}</style>`,
    ...PANELS.flatMap((panel) => [...axes(panel), ...all.map((series) => line(series, panel))]),
    ...legend(all),
    '</svg>',
    '',
  ].join('\n');
}

function seriesOf(results: readonly Result[]): Series[] {
  const names = new Map<string, Result[]>();
  for (const result of results) {
    const name = result.what.replace(/, \d+ waiters$/, '');
    names.set(name, [...(names.get(name) ?? []), result]);
  }
  return [...names].map(([name, rows]) => ({
    name,
    color: COLORS[name.replace(/, (tuned|fair)$/, '')] ?? '#8b949e',
    dashed: !/tuned|holdfast|floor/.test(name),
    rows: rows.map(({ what, measured }) => ({
      waiters: Number(/(\d+) waiters$/.exec(what)?.[1]),
      measured,
    })),
  }));
}

function axes({ title, left, from, to }: Panel): string[] {
  const right = left + PLOT_WIDTH;
  const bottom = TOP + PLOT_HEIGHT;
  const marks = [`<text class="title" x="${left}" y="${TOP - 20}">${title}</text>`];
  for (let power = from; power <= to; power++) {
    const y = at(power, from, to, bottom, TOP);
    marks.push(`<line class="grid" x1="${left}" x2="${right}" y1="${y}" y2="${y}"/>`);
    const label = `<text x="${left - 8}" y="${y + 4}" text-anchor="end">${count(power)}</text>`;
    marks.push(label);
  }
  for (let power = FEWEST; power <= MOST; power++) {
    const x = at(power, FEWEST, MOST, left, right);
    marks.push(`<text x="${x}" y="${bottom + 20}" text-anchor="middle">${count(power)}</text>`);
  }
  const middle = left + PLOT_WIDTH / 4;
  marks.push(`<text x="${middle}" y="${bottom + 20}" text-anchor="middle">waiters</text>`);
  return marks;
}

function line(series: Series, panel: Panel): string {
  const points = series.rows.flatMap(({ waiters, measured }) => {
    const value = measured[panel.column];
    // With few turns nobody who waited may have got the lock from somebody else.
    if (value === undefined || !Number.isFinite(value)) return [];
    const x = at(Math.log10(waiters), FEWEST, MOST, panel.left, panel.left + PLOT_WIDTH);
    const y = at(Math.log10(value), panel.from, panel.to, TOP + PLOT_HEIGHT, TOP);
    return [`${x},${y}`];
  });
  return polyline(series, points);
}

function polyline({ name, color, dashed }: Series, points: readonly string[]): string {
  const kind = name.startsWith('holdfast') ? ' class="ours"' : dashed ? ' class="dashed"' : '';
  return `<polyline${kind} stroke="${color}" points="${points.join(' ')}"/>`;
}

/** In columns under both panels, tuned below its defaults. */
function legend(all: readonly Series[]): string[] {
  return all.flatMap((series, n) => {
    const x = 24 + Math.floor(n / 2) * 186;
    const y = HEIGHT - 44 + (n % 2) * 22;
    return [
      polyline(series, [`${x},${y - 4}`, `${x + 22},${y - 4}`]),
      `<text x="${x + 28}" y="${y}">${series.name.replace('floor: ', '')}</text>`,
    ];
  });
}

function count(power: number): string {
  return (10 ** power).toLocaleString('en');
}

/** Where a value lies between two ends, to a tenth of a pixel. */
function at(value: number, from: number, to: number, first: number, last: number): number {
  return Number((first + ((value - from) / (to - from)) * (last - first)).toFixed(1));
}
