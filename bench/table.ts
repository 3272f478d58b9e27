import type { Result } from './result.ts';

/** Results of one figure as a Markdown table; a column for everything that any of them measured. */
export function table(results: readonly Result[]): string {
  const measured = [...new Set(results.flatMap((result) => Object.keys(result.measured)))];
  const rows = results.map((result) => [
    result.what,
    ...measured.map((column) => number(result.measured[column])),
    number(result.ratio),
    goal(result),
  ]);
  const lines = [
    ['', ...measured, 'ratio', 'goal'],
    ['---', ...measured.map(() => '--:'), '--:', '---'],
    ...rows,
  ];
  return lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function goal({ goal, met }: Result): string {
  return goal === undefined ? '' : `${goal}: ${met ? 'met' : '**missed**'}`;
}

/** Three digits are as many as repeat from run to run. */
function number(value: number | undefined): string {
  if (value === undefined) return '';
  if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString('en');
  return String(Number(value.toPrecision(3)));
}
