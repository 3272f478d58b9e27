/** The common part of sessions of all databases and clients. */
import { Answer, isThenable } from '../../base/answer.ts';

export type TextRow = readonly (string | null)[];

export function columnOf(rows: readonly TextRow[]): string[] {
  return rows.map(([text]) => String(text));
}

export type SqlCallback<T> = (error: unknown, result: T) => void;

/** The outcome of a call that ends with its callback. */
export function asked<T>(ask: (done: SqlCallback<T>) => unknown): Answer<T> {
  const answer = new Answer<T>();
  ask((error, result) => (error ? answer.fail(error) : answer.settle(result)));
  return answer;
}

/** The same of a client whose other flavour ignores a callback, and returns a promise. */
export function eitherWay<T>(call: (done: SqlCallback<T>) => unknown): Promise<T> {
  return new Promise((resolve, reject) => {
    const promised = call((error, result) => (error ? reject(error) : resolve(result)));
    if (isThenable(promised)) (promised as PromiseLike<T>).then(resolve, reject);
  });
}

/** How long a goodbye may take, in ms; a server that cannot be reached takes none. */
const GOODBYE_MS = 1000;

/** Ends the connection after `goodbye`; default: once the written data is on its way. */
export function hangUp(
  socket: { destroy(): unknown; destroySoon?(): unknown } | undefined,
  goodbye: () => void = () => socket?.destroySoon?.(),
): void {
  try {
    goodbye();
  } catch {
    // The connection is broken already.
  }
  setTimeout(() => socket?.destroy(), GOODBYE_MS).unref();
}
