/** Tries things in every combination, and says how each came out. */
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

export async function runMatrix(cells: readonly Cell[]): Promise<Tally> {
  const failed: string[] = [];
  const left = cells.filter(({ gap }) => gap === undefined);
  const tried = left.length;
  const worker = async (): Promise<void> => {
    for (let cell = left.shift(); cell; cell = left.shift()) {
      try {
        await cell.run();
        console.log(`✓ ${nameOf(cell)}${cell.note ? ` (${cell.note})` : ''}`);
      } catch (error) {
        failed.push(nameOf(cell));
        console.log(`✗ ${nameOf(cell)}:`, error instanceof StepError ? error.message : error);
      }
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
  return { passed: tried - failed.length, failed, skipped: cells.flatMap(skipOf) };
}

function nameOf({ row, column }: Cell): string {
  return `${row}, ${column}`;
}

function skipOf(cell: Cell): Skip[] {
  return cell.gap ? [{ test: nameOf(cell), reason: `not promised: ${cell.gap}` }] : [];
}
