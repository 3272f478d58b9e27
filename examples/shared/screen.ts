/**
 * What the larger examples print. On a terminal the last lines are live and drawn anew in place;
 * elsewhere, and on a terminal that cannot move its cursor, all lines stay. Colours are for
 * terminals, and not with NO_COLOR.
 */
import { stripVTControlCharacters, styleText } from 'node:util';

type Style = Parameters<typeof styleText>[0];

const { stdout, env } = process;

/** True if lines can be drawn anew in place. */
export const isLive: boolean = stdout.isTTY === true && env.TERM !== 'dumb';
const colours = isLive && !env.NO_COLOR;

const INDENT = '   ';
const CLEAR_BELOW = '\u001b[J';
const CURSOR = { hide: '\u001b[?25l', show: '\u001b[?25h' };

let live: readonly string[] = [];

export function paint(style: Style, text: string): string {
  return colours ? styleText(style, text) : text;
}

export const good = (text: string): string => paint('green', `✓ ${text}`);
export const bad = (text: string): string => paint('red', `✗ ${text}`);

/** Lines that stay, above those that are live. */
export function say(...lines: string[]): void {
  const below = live;
  erase();
  for (const line of lines) stdout.write(line === '' ? '\n' : `${INDENT}${line}\n`);
  draw(below);
}

export function heading(text: string): void {
  stdout.write(`\n${paint('bold', text)}\n`);
}

/** Replaces the live lines; does nothing where there are none. */
export function show(lines: readonly string[]): void {
  if (!isLive) return;
  erase();
  draw(lines);
}

/** Columns as wide as their content; numbers are set right. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const lines = [head.map((cell) => paint('dim', cell)), ...rows];
  const widths = head.map((_, n) => Math.max(...lines.map((cells) => width(cells[n] ?? ''))));
  const isNumber = head.map((_, n) => rows.every((cells) => /^\d*$/.test(plain(cells[n] ?? ''))));
  return lines.map((cells) =>
    cells
      .map((cell, n) => {
        const space = ' '.repeat((widths[n] ?? 0) - width(cell));
        return isNumber[n] ? space + cell : cell + space;
      })
      .join('   ')
      .trimEnd(),
  );
}

/** How much of `target` is done; what goes beyond it is red. */
export function bar(done: number, target: number, cells: number): string {
  const whole = Math.max(done, target);
  const within = Math.round((Math.min(done, target) / whole) * cells);
  const beyond = Math.round((Math.max(done - target, 0) / whole) * cells);
  const open = Math.max(cells - within - beyond, 0);
  return (
    paint('green', '█'.repeat(within)) +
    paint('red', '▓'.repeat(beyond)) +
    paint('dim', '░'.repeat(open))
  );
}

/** Leaves the terminal as it was. */
export function close(): void {
  if (isLive) stdout.write(CURSOR.show);
}

function draw(lines: readonly string[]): void {
  live = lines;
  if (lines.length === 0) return;
  stdout.write(CURSOR.hide);
  for (const line of lines) stdout.write(`${INDENT}${narrow(line)}\n`);
}

function erase(): void {
  if (live.length === 0) return;
  stdout.write(`\u001b[${live.length}A\r${CLEAR_BELOW}${CURSOR.show}`);
  live = [];
}

/** A live line that wraps could not be drawn anew; one that is too wide gives up its colours. */
function narrow(line: string): string {
  const columns = (stdout.columns ?? 80) - INDENT.length - 1;
  return width(line) <= columns ? line : plain(line).slice(0, Math.max(columns, 0));
}

function plain(text: string): string {
  return stripVTControlCharacters(text);
}

function width(text: string): number {
  return plain(text).length;
}
