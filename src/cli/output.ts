/**
 * Output for people and programs. Errors go straight to the file: a stream of Node would make a
 * pipe non-blocking for the command that shares it. The thread pool writes them, because a full
 * pipe without a reader would block this process, which then could not end the command.
 */
import { write } from 'node:fs';
import { inspect, promisify } from 'node:util';
import { isLockError, messageOf } from '../base/errors.ts';
import { ExitError, STATUS, statusOf } from './process/exit-status.ts';

/** To the standard output; ends the process quietly, with this status, if its reader is gone. */
export function print(text: string, status = 0): Promise<void> {
  const { stdout } = process;
  // The callback below gets the errors.
  if (stdout.listenerCount('error') === 0) stdout.on('error', () => {});
  return new Promise((resolve, reject) => {
    stdout.write(text, (error: NodeJS.ErrnoException | null | undefined) => {
      if (error?.code === 'EPIPE') process.exit(status);
      if (!error) return resolve();
      reject(new ExitError(STATUS.output, `The output cannot be written: ${error.message}.`));
    });
  });
}

export function printJson(value: unknown, status = 0): Promise<void> {
  return print(`${jsonOf(value)}\n`, status);
}

/** One line on the standard error; the stack as well for a bug. */
export async function complainOf(error: unknown, asJson: boolean): Promise<void> {
  const message = messageOf(error);
  const status = statusOf(error);
  if (asJson) {
    const cause = error instanceof ExitError && isLockError(error.cause) ? error.cause : error;
    const code = isLockError(cause) ? { code: cause.code } : {};
    await printError(jsonOf({ error: { status, ...code, message } }));
  } else if (status === STATUS.bug) await printError(`holdfast: ${inspect(error)}`);
  else await printError(`holdfast: ${plain(message)}`);
}

/** A person reads it, and has not asked for plain text. */
export function isColoured(): boolean {
  return process.stdout.isTTY && !process.env.NO_COLOR && process.env.TERM !== 'dumb';
}

export function printError(line: string): Promise<void> {
  return draw(`${line}\n`);
}

/** On the standard error, whose reader may be gone. */
export async function draw(text: string): Promise<void> {
  await promisify(write)(2, text).catch(() => {});
}

/** Characters that break lines, or that a terminal would obey. */
const SIGNS = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;

/** Foreign text in a line of output. */
export function plain(text: string): string {
  return text.replace(SIGNS, (sign) => `\\u{${sign.codePointAt(0)?.toString(16)}}`);
}

/** JSON leaves unescaped some characters that a terminal would obey. */
function jsonOf(value: unknown): string {
  return JSON.stringify(value).replace(SIGNS, (sign) => {
    // JSON has two units for those beyond 16 bits.
    const units = sign.split('').map((unit) => unit.charCodeAt(0).toString(16).padStart(4, '0'));
    return units.map((unit) => `\\u${unit}`).join('');
  });
}

/** A user's words, in a message. */
export function quote(text: string): string {
  return `"${plain(text.length > 80 ? `${text.slice(0, 77)}...` : text)}"`;
}
