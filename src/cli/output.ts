/**
 * What people and programs read. Errors are written straight to the file: a stream of Node's would
 * make a pipe non-blocking for the command that shares it. The thread pool does it, because a full
 * pipe that nobody empties would stop this process, and nobody would end the command.
 */
import { write } from 'node:fs';
import { inspect, promisify } from 'node:util';
import { isLockError } from '../base/errors.ts';
import { ExitError, STATUS, statusOf } from './process/exit-status.ts';
import { jsonOf, plain } from './text.ts';

let listens = false;

/** To the standard output; ends the process quietly, with this status, if nobody reads any more. */
export function print(text: string, status = 0): Promise<void> {
  // What goes wrong is told to whoever wrote.
  if (!listens) process.stdout.on('error', () => {});
  listens = true;
  return new Promise((resolve, reject) => {
    process.stdout.write(text, (error: NodeJS.ErrnoException | null | undefined) => {
      if (error?.code === 'EPIPE') process.exit(status);
      if (!error) return resolve();
      reject(new ExitError(STATUS.output, `The output cannot be written: ${error.message}.`));
    });
  });
}

export function printJson(value: unknown, status = 0): Promise<void> {
  return print(`${jsonOf(value)}\n`, status);
}

/** One line on the standard error; more for what should not have happened. */
export async function complainOf(error: unknown, asJson: boolean): Promise<void> {
  const message = error instanceof Error ? error.message : String(error);
  const status = statusOf(error);
  if (asJson) {
    const cause = error instanceof ExitError && isLockError(error.cause) ? error.cause : error;
    const code = isLockError(cause) ? { code: cause.code } : {};
    await tell(jsonOf({ error: { status, ...code, message } }));
  } else if (status === STATUS.bug) await tell(`holdfast: ${inspect(error)}`);
  else await tell(`holdfast: ${plain(message)}`);
}

/** A person looks at it, and has not asked for bare text. */
export function isColoured(): boolean {
  return process.stdout.isTTY && !process.env.NO_COLOR && process.env.TERM !== 'dumb';
}

async function tell(line: string): Promise<void> {
  // Whoever would have read it may be gone.
  await promisify(write)(2, `${line}\n`).catch(() => {});
}
