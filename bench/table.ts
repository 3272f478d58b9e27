import type { Result } from './result.ts';

interface Column {
  readonly name: string;
  readonly align: string;
  of(result: Result): string;
}

/** Results of one figure as a Markdown table; a column for everything that any of them tells. */
export function table(results: readonly Result[]): string {
  const measured = new Set(results.flatMap((result) => Object.keys(result.measured)));
  const all: readonly Column[] = [
    { name: '', align: '---', of: ({ what }) => what },
    ...[...measured].map(
      (name): Column => ({ name, align: '--:', of: (result) => number(result.measured[name]) }),
    ),
    { name: 'ratio', align: '--:', of: ({ ratio }) => number(ratio) },
    { name: 'goal', align: '---', of: goal },
  ];
  const columns = all.filter(({ of }) => results.some((result) => of(result) !== ''));
  const lines = [
    columns.map(({ name }) => name),
    columns.map(({ align }) => align),
    ...results.map((result) => columns.map(({ of }) => of(result))),
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
