import { median, type Result } from './result.ts';

/** A row of several runs: each number is the median of theirs. */
interface Row extends Result {
  readonly runs?: readonly Result[];
}

/**
 * Several runs of a figure as one. A goal is met if most runs meet it: then the medians do, too,
 * since each bounds numbers from one side.
 */
export function merged(runs: readonly (readonly Result[])[]): Row[] {
  const [first = []] = runs;
  return first.map(({ what, goal }, n): Row => {
    const rows = runs.flatMap((run) => run[n] ?? []);
    if (rows.length < runs.length || rows.some((row) => row.what !== what)) {
      throw new Error(`Not every run has the row ${what} in the same place.`);
    }
    const columns = new Set(rows.flatMap(({ measured }) => Object.keys(measured)));
    const measured = Array.from(columns, (name) => [name, middle(rows, inColumn(name)) ?? 0]);
    return {
      ...{ what, goal, runs: rows, measured: Object.fromEntries(measured) },
      ratio: middle(rows, ratioOf),
      met: goal === undefined ? undefined : rows.filter(({ met }) => met).length * 2 > rows.length,
    };
  });
}

/** Results of one figure as a Markdown table; a column for everything that any of them tells. */
export function table(results: readonly Row[]): string {
  const measured = new Set(results.flatMap((result) => Object.keys(result.measured)));
  type Column = [name: string, align: string, of: (result: Row) => string];
  const all: Column[] = [
    ['', '---', ({ what }) => what],
    ...[...measured].map((name): Column => {
      const value = inColumn(name);
      return [name, '--:', (row) => (row.goal ? spread(row, value) : number(value(row)))];
    }),
    ['ratio', '--:', (row) => spread(row, ratioOf)],
    ['goal', '---', ({ goal, met }) => (goal ? `${goal}: ${met ? 'met' : '**missed**'}` : '')],
  ];
  const columns = all.filter(([, , of]) => results.some((result) => of(result) !== ''));
  const rows = [
    columns.map(([name]) => name),
    columns.map(([, align]) => align),
    ...results.map((result) => columns.map(([, , of]) => of(result))),
  ];
  return rows.map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

type Value = (result: Result) => number | undefined;

const ratioOf: Value = ({ ratio }) => ratio;

function inColumn(column: string): Value {
  return ({ measured }) => measured[column];
}

function known(rows: readonly Result[], value: Value): number[] {
  return rows.map(value).filter((one) => one !== undefined);
}

function middle(rows: readonly Result[], value: Value): number | undefined {
  const all = known(rows, value);
  return all.length > 0 ? median(all) : undefined;
}

/** With the least and the most of the runs, if they differ. */
function spread(row: Row, value: Value): string {
  const shown = number(value(row));
  const all = known(row.runs ?? [], value);
  const [least, most] = [number(Math.min(...all)), number(Math.max(...all))];
  return all.length === 0 || least === most ? shown : `${shown} (${least}–${most})`;
}

/** Three digits are as many as repeat from run to run. */
export function number(value: number | undefined): string {
  if (value === undefined) return '';
  if (Math.abs(value) >= 1000) return Math.round(value).toLocaleString('en');
  return String(Number(value.toPrecision(3)));
}
