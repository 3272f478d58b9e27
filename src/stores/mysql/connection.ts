/** What is needed of a connection of either client package. */
import type { WireTerms } from '../sql/wire.ts';

export type Row = readonly (string | null)[];

export interface Connection {
  /**
   * One round trip; settles with the rows of the first result, as texts. `told` gets each value of
   * them all when it comes, while the call may go on.
   */
  query(text: string, told?: (value: string | null) => void): Promise<readonly Row[]>;
  /** Says goodbye if it can, and is gone soon. */
  end(): void;
}

/** Connects like the user's client; to be given up when the signal says so. */
export type Connect = (terms: Pick<WireTerms, 'signal' | 'lost'>) => Promise<Connection>;

/** How long a goodbye may take, in ms. */
const GOODBYE_MS = 1000;

/**
 * Ends the connection after `goodbye`, which is sent when what was asked before is answered. One
 * that is broken may have no socket any more.
 */
export function hangUp(socket: { destroy(): unknown } | undefined, goodbye: () => void): void {
  try {
    goodbye();
  } catch {
    // It is broken already.
  }
  setTimeout(() => socket?.destroy(), GOODBYE_MS).unref();
}

/** What a new connection needs first; it is ended if that fails, or is given up. */
export async function first<T>(
  { end }: Connection,
  signal: AbortSignal,
  work: () => Promise<T>,
): Promise<T> {
  signal.addEventListener('abort', end, { once: true });
  try {
    return await work();
  } catch (error) {
    end();
    throw error;
  } finally {
    signal.removeEventListener('abort', end);
  }
}

/** The rows of the first result; a procedure answers with an array of results. */
export function rowsIn(results: unknown): readonly Row[] {
  if (!Array.isArray(results)) return [];
  const [first] = results as readonly unknown[];
  // Rows are arrays themselves: only in a result are their elements arrays as well.
  if (!Array.isArray(first)) return [];
  return Array.isArray(first[0]) || first.length === 0
    ? (first as readonly Row[])
    : (results as readonly Row[]);
}

/** The value, which is told to whoever wants it. */
export function tellOf(value: string | null, told?: (value: string | null) => void): string | null {
  told?.(value);
  return value;
}

/**
 * A text as the server reads it whatever the session's mode, character set and client are: nothing
 * in it needs to be escaped.
 */
export function literal(text: string): string {
  return text === '' ? "''" : `_utf8mb4 0x${Buffer.from(text).toString('hex')}`;
}
