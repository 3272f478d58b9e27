/** Draws what was measured, as panels of lines side by side. All axes are logarithmic. */
import type { Result } from './result.ts';

export interface Series {
  readonly name: string;
  readonly color: string;
  readonly dashed: boolean;
  readonly rows: readonly { readonly at: number; readonly measured: Result['measured'] }[];
}

export interface Panel {
  readonly title: string;
  readonly column: string;
  /** Powers of ten. */
  readonly from: number;
  readonly to: number;
}

export interface Plot {
  readonly title: string;
  /** Two of them. */
  readonly panels: readonly Panel[];
  /** What is counted from left to right, in powers of ten. */
  readonly across: { readonly name: string; readonly from: number; readonly to: number };
}

const WIDTH = 960;
const HEIGHT = 440;
const TOP = 48;
const [PLOT_WIDTH, PLOT_HEIGHT] = [384, 290];
const LEFT = [64, 540];

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
export function svg(plot: Plot, all: readonly Series[]): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img">`,
    `<title>${plot.title}</title>`,
    `<style>${STYLE}</style>`,
    ...plot.panels.flatMap((panel, n) => {
      const placed = { ...panel, left: LEFT[n] ?? 0 };
      return [...axes(placed, plot), ...all.map((series) => line(series, placed, plot))];
    }),
    ...legend(all),
    '</svg>',
    '',
  ].join('\n');
}

interface Placed extends Panel {
  readonly left: number;
}

function axes({ title, left, from, to }: Placed, { across }: Plot): string[] {
  const right = left + PLOT_WIDTH;
  const bottom = TOP + PLOT_HEIGHT;
  const marks = [`<text class="title" x="${left}" y="${TOP - 20}">${title}</text>`];
  for (let power = from; power <= to; power++) {
    const y = at(power, from, to, bottom, TOP);
    marks.push(`<line class="grid" x1="${left}" x2="${right}" y1="${y}" y2="${y}"/>`);
    const label = `<text x="${left - 8}" y="${y + 4}" text-anchor="end">${count(power)}</text>`;
    marks.push(label);
  }
  for (let power = across.from; power <= across.to; power++) {
    const x = at(power, across.from, across.to, left, right);
    marks.push(`<text x="${x}" y="${bottom + 20}" text-anchor="middle">${count(power)}</text>`);
  }
  const middle = left + PLOT_WIDTH / 4;
  marks.push(`<text x="${middle}" y="${bottom + 20}" text-anchor="middle">${across.name}</text>`);
  return marks;
}

function line(series: Series, panel: Placed, { across }: Plot): string {
  const points = series.rows.flatMap(({ at: where, measured }) => {
    const value = measured[panel.column];
    // With few turns nobody who waited may have got the lock from somebody else.
    if (value === undefined || !Number.isFinite(value)) return [];
    const right = panel.left + PLOT_WIDTH;
    const x = at(Math.log10(where), across.from, across.to, panel.left, right);
    const y = at(Math.log10(value), panel.from, panel.to, TOP + PLOT_HEIGHT, TOP);
    return [`${x},${y}`];
  });
  return polyline(series, points);
}

function polyline({ name, color, dashed }: Series, points: readonly string[]): string {
  const kind = name.startsWith('holdfast') ? ' class="ours"' : dashed ? ' class="dashed"' : '';
  return `<polyline${kind} stroke="${color}" points="${points.join(' ')}"/>`;
}

/** In columns under both panels, two names in each. */
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

/** Results by the name before `, <n> <counted>`. */
export function byName(
  results: readonly Result[],
  counted: string,
): Map<string, Series['rows'][number][]> {
  const names = new Map<string, Series['rows'][number][]>();
  for (const { what, measured } of results) {
    const [, name = what, at = ''] = new RegExp(`^(.*), (\\d+) ${counted}s?$`).exec(what) ?? [];
    names.set(name, [...(names.get(name) ?? []), { at: Number(at), measured }]);
  }
  return names;
}
