/** Tries things in every combination, and says what came out as a table for people. */
import { type Skip, StepError, type Tally } from '../steps.ts';

/** As many as the smallest machines have processors. */
const AT_ONCE = 2;

export interface Cell {
  readonly row: string;
  readonly column: string;
  /** Why it is not promised, and not tried. */
  readonly gap?: string | undefined;
  /** What to know of a passed one. */
  readonly note?: string | undefined;
  run(): Promise<unknown>;
}

/** Prints the table, after what the failing ones said. */
export async function runMatrix(cells: readonly Cell[]): Promise<Tally> {
  const failed = new Set<Cell>();
  const left = cells.filter(({ gap }) => gap === undefined);
  const passed = left.length;
  const worker = async (): Promise<void> => {
    for (let cell = left.shift(); cell; cell = left.shift()) {
      try {
        await cell.run();
      } catch (error) {
        failed.add(cell);
        console.log(`${nameOf(cell)}:`, error instanceof StepError ? error.message : error);
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));

  console.log(`\n${tableOf(cells, failed)}\n`);
  return {
    passed: passed - failed.size,
    failed: [...failed].map(nameOf),
    skipped: cells.flatMap(skipOf),
  };
}

function nameOf({ row, column }: Cell): string {
  return `${row}, ${column}`;
}

function skipOf(cell: Cell): Skip[] {
  return cell.gap ? [{ test: nameOf(cell), reason: `not promised: ${cell.gap}` }] : [];
}

function tableOf(cells: readonly Cell[], failed: ReadonlySet<Cell>): string {
  const notes: string[] = [];
  const mark = (note: string): string => {
    if (!notes.includes(note)) notes.push(note);
    return `(${notes.indexOf(note) + 1})`;
  };
  const textOf = (cell: Cell): string => {
    if (failed.has(cell)) return 'FAILED';
    if (cell.gap) return `not promised ${mark(cell.gap)}`;
    return cell.note ? `passed ${mark(cell.note)}` : 'passed';
  };
  const columns = [...new Set(cells.map(({ column }) => column))];
  const rows = [...new Set(cells.map(({ row }) => row))].map((row) => [
    row,
    ...cells.filter((cell) => cell.row === row).map(textOf),
  ]);
  const lines = [['', ...columns], ['', ...columns].map(() => '---'), ...rows];
  const widths = ['', ...columns].map((_, n) => Math.max(...lines.map((line) => width(line[n]))));
  const pad = (text: string, n: number): string => text.padEnd(widths[n] ?? 0);
  const table = lines.map((line) => `| ${line.map(pad).join(' | ')} |`);
  const below = notes.map((note, n) => `${n + 1}. ${note}`);
  return [...table, ...(below.length > 0 ? ['', ...below] : [])].join('\n');
}

function width(text = ''): number {
  return text.length;
}
