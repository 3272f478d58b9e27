/** Keys of a terminal that hands on each as it is pressed. */

const ESCAPE = '\u001b';

/** A sequence of a special key, a lone Escape, or a character. */
const KEY = new RegExp(`${ESCAPE}(?:[[O][\\d;]*[A-Za-z~])?|.`, 'gsu');

const NAMES: ReadonlyMap<string, string> = new Map([
  [`${ESCAPE}[A`, 'up'],
  [`${ESCAPE}OA`, 'up'],
  [`${ESCAPE}[B`, 'down'],
  [`${ESCAPE}OB`, 'down'],
  [ESCAPE, 'escape'],
  ['\r', 'enter'],
  ['\n', 'enter'],
  ['\u007f', 'backspace'],
  ['\b', 'backspace'],
  ['\u0003', '^C'],
  ['\u0004', '^D'],
  ['\u001a', '^Z'],
]);

/** The keys in what was read: a name of several letters, or the character; others are skipped. */
export function keysOf(read: string): readonly string[] {
  return [...read.matchAll(KEY)].flatMap(([key]) => {
    const isSign = !key.startsWith(ESCAPE) && key >= ' ';
    return NAMES.get(key) ?? (isSign ? key : []);
  });
}

/**
 * Calls `typed` for each key, until the returned function restores the terminal. The keys that a
 * terminal turns into signals come as keys: ^Z is dealt with here.
 */
export function readKeys(
  terminal: NodeJS.ReadStream,
  typed: (keys: readonly string[]) => void,
): () => void {
  const read = (text: string): void => {
    const keys = keysOf(text);
    if (keys.includes('^Z')) suspend(terminal);
    typed(keys);
  };
  // A terminal that was lent to the shell meanwhile is as the shell has set it.
  const resumed = (): void => {
    terminal.setRawMode(false);
    terminal.setRawMode(true);
    typed([]);
  };
  const ended = (): void => typed(['^D']);
  process.on('SIGCONT', resumed);
  terminal.setRawMode(true);
  terminal.setEncoding('utf8').on('data', read).on('end', ended).on('error', ended);
  return () => {
    process.off('SIGCONT', resumed);
    terminal.off('data', read).pause();
    terminal.setRawMode(false);
  };
}

/**
 * As the terminal does for ^Z: all of the job stops, npx included, so that the shell has its
 * terminal again. Where no shell could resume the job, the system ignores the signal.
 */
function suspend(terminal: NodeJS.ReadStream): void {
  if (process.platform === 'win32') return;
  terminal.setRawMode(false);
  process.kill(0, 'SIGTSTP');
  terminal.setRawMode(true);
}
