import type { Result } from './result.ts';

/** Results of one figure as a Markdown table; a column for everything that any of them tells. */
export function table(results: readonly Result[]): string {
  const measured = new Set(results.flatMap((result) => Object.keys(result.measured)));
  type Column = [name: string, align: string, of: (result: Result) => string];
  const all: Column[] = [
    ['', '---', ({ what }) => what],
    ...[...measured].map((name): Column => [name, '--:', (one) => number(one.measured[name])]),
    ['ratio', '--:', ({ ratio }) => number(ratio)],
    ['goal', '---', ({ goal, met }) => (goal ? `${goal}: ${met ? 'met' : '**missed**'}` : '')],
  ];
  const columns = all.filter(([, , of]) => results.some((result) => of(result) !== ''));
  const lines = [
    columns.map(([name]) => name),
    columns.map(([, align]) => align),
    ...results.map((result) => columns.map(([, , of]) => of(result))),
  ];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

/** Three digits are as many as repeat from run to run. */
export function number(value: number | undefined): string {
  if (value === undefined) return '';
  if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString('en');
  return String(Number(value.toPrecision(3)));
}
