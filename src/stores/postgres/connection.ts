/** What is needed of a connection of either client package. */
import type { WireTerms } from '../sql/wire.ts';

export interface Statement {
  readonly text: string;
  /** For `$1` and so on. */
  readonly values?: readonly string[];
  /** Under which the server keeps it prepared, as long as the connection lives. */
  readonly name?: string;
}

export type Row = readonly (string | null)[];

export interface Connection {
  /**
   * One round trip, but for a statement that has just been given its name; settles with the rows,
   * as texts.
   */
  query(statement: Statement): Promise<readonly Row[]>;
  /**
   * Which process of the server it was told at its start, known after the first statement; a pooler
   * makes something up.
   */
  readonly pid: number | undefined;
  /** Messages to this channel are heard from then on. */
  listen(channel: string): Promise<unknown>;
  /** Says goodbye if it can, and is gone soon. */
  end(): void;
}

/** Connects like the user's client; to be given up when the signal says so. */
export type Connect = (terms: WireTerms) => Promise<Connection>;

/** How long a goodbye may take, in ms; who cannot be reached takes none. */
const GOODBYE_MS = 1000;

interface Ends {
  destroy(): unknown;
  destroySoon?(): unknown;
}

/** Ends the connection when what was written is on its way. */
export function hangUp(socket: Ends): void {
  if (socket.destroySoon) socket.destroySoon();
  setTimeout(() => socket.destroy(), GOODBYE_MS).unref();
}
