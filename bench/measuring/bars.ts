/** The picture of rivals in docs/images: a row for each, a bar in each panel, from 0 on. */
import { type Picture, svg, text } from './pictures.ts';
import { number } from './table.ts';

const LEFT = 24;
/** Where panels begin, how wide one is, and its longest bar, which has its value beside it. */
const [NAMES, PANEL, LONGEST] = [196, 191, 130];
const [TOP, ROW, BAR] = [52, 24, 14];

const PANELS = [
  { column: 'alone: pairs/s', title: 'alone, pairs a second', best: 'more is better' },
  { column: '64 at once: pairs/s', title: '64 at once, pairs a second', best: 'more is better' },
  { column: 'hand-off: median ms', title: 'hand-off, median ms', best: 'less is better' },
  { column: 'longest wait ms', title: 'longest wait, ms', best: 'less is better' },
] as const;

export const rivalsPicture: Picture = (results, conditions) => {
  const end = TOP + results.length * ROW;
  const names = results.map(({ what }, n) => {
    const name = what.replace('floor: ', '').replace(/ \+ compare.*/, '');
    return text(`x="${NAMES - 10}" y="${middle(n) + 4}" text-anchor="end"`, name);
  });
  const bars = PANELS.flatMap(({ column, title, best }, n) => {
    const left = NAMES + n * PANEL;
    const most = Math.max(...results.map(({ measured }) => measured[column] ?? 0));
    return [
      text(`class="title" x="${left}" y="20"`, title),
      text(`x="${left}" y="36"`, best),
      `<line class="grid" x1="${left}" x2="${left}" y1="${TOP - 4}" y2="${end}"/>`,
      ...results.flatMap(({ what, measured }, row) => {
        // None where nothing was measured.
        const value = measured[column];
        if (value === undefined) return [];
        const width = Number(((value / most) * LONGEST).toFixed(1));
        const y = middle(row);
        const place = `x="${left}" y="${y - BAR / 2}" width="${width}" height="${BAR}"`;
        const label = text(`x="${left + width + 5}" y="${y + 4}"`, number(value));
        return [`<rect fill="${colorOf(what)}" ${place}/>`, label];
      }),
    ];
  });
  const below = halves(conditions).map((line, n) =>
    text(`x="${LEFT}" y="${end + 26 + n * 17}"`, line),
  );
  const title = 'Holdfast beside other libraries: rates alone, hand-off and waits';
  return svg(title, end + 56, [...names, ...bars, ...below]);
};

/** In two lines, at a semicolon. */
function halves(conditions: string): string[] {
  const at = conditions.indexOf('; ', conditions.length / 2);
  return [conditions.slice(0, at + 1), conditions.slice(at + 1).trim()];
}

function middle(row: number): number {
  return TOP + row * ROW + ROW / 2;
}

function colorOf(name: string): string {
  if (name.startsWith('holdfast')) return '#2f81f7';
  return name.startsWith('floor') ? '#8b949e' : '#c69026';
}
