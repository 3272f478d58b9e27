/**
 * What people and programs read. Errors are written straight to the file: a stream of Node's would
 * make a pipe non-blocking for the command that shares it.
 */
import { writeSync } from 'node:fs';
import { inspect } from 'node:util';
import { isLockError } from '../errors.ts';
import { ExitError, STATUS, statusOf } from './exit-status.ts';
import { plain } from './text.ts';

let listens = false;

/** To the standard output; ends the process quietly if nobody reads it any more. */
export function print(text: string): Promise<void> {
  // What goes wrong is told to whoever wrote.
  if (!listens) process.stdout.on('error', () => {});
  listens = true;
  return new Promise((resolve, reject) => {
    process.stdout.write(text, (error: NodeJS.ErrnoException | null | undefined) => {
      if (error?.code === 'EPIPE') process.exit(0);
      if (!error) return resolve();
      reject(new ExitError(STATUS.output, `The output cannot be written: ${error.message}.`));
    });
  });
}

export function printJson(value: unknown): Promise<void> {
  return print(`${JSON.stringify(value)}\n`);
}

/** One line on the standard error; more for what should not have happened. */
export function complainOf(error: unknown, asJson: boolean): void {
  const message = error instanceof Error ? error.message : String(error);
  const status = statusOf(error);
  if (asJson) {
    const cause = error instanceof ExitError && isLockError(error.cause) ? error.cause : error;
    const code = isLockError(cause) ? { code: cause.code } : {};
    write(`${JSON.stringify({ error: { status, ...code, message } })}\n`);
  } else if (status === STATUS.bug) write(`holdfast: ${inspect(error)}\n`);
  else write(`holdfast: ${plain(message)}\n`);
}

/** A person looks at it, and has not asked for bare text. */
export function isColoured(): boolean {
  return process.stdout.isTTY && !process.env.NO_COLOR && process.env.TERM !== 'dumb';
}

function write(line: string): void {
  try {
    writeSync(2, line);
  } catch {
    // Whoever would have read it is gone.
  }
}
