/**
 * What people and programs read. Errors are written straight to the file: a stream of Node's would
 * make a pipe non-blocking for the command that shares it.
 */
import { writeSync } from 'node:fs';
import { isLockError } from '../errors.ts';
import { ExitError, STATUS } from './exit-status.ts';

const NAME = 'holdfast';

/** To the standard output; ends the process quietly if nobody reads it any more. */
export function print(text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    process.stdout.once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EPIPE') process.exit(0);
      reject(new ExitError(STATUS.output, `The output cannot be written: ${error.message}.`));
    });
    process.stdout.write(text, () => resolve());
  });
}

export function printJson(value: unknown): Promise<void> {
  return print(`${JSON.stringify(value)}\n`);
}

/** One line on the standard error. */
export function complain(message: string): void {
  write(`${NAME}: ${message.replace(/\p{Cc}+/gu, ' ')}\n`);
}

export function complainOf(error: unknown, status: number, asJson: boolean): void {
  const message = error instanceof Error ? error.message : String(error);
  if (asJson) {
    const code = isLockError(error) ? { code: error.code } : {};
    write(`${JSON.stringify({ error: { status, ...code, message } })}\n`);
  } else if (status === STATUS.bug) {
    const stack = error instanceof Error ? error.stack : undefined;
    write(`${NAME}: ${stack ?? message}\n`);
  } else complain(message);
}

function write(line: string): void {
  try {
    writeSync(2, line);
  } catch {
    // Whoever would have read it is gone.
  }
}
