/** What the store needs of a connection of either client package. */
import type { TextRow } from '../sql/session.ts';
import type { WireTerms } from '../wire.ts';

export interface PostgresStatement {
  readonly text: string;
  /** For `$1` and so on; only of a statement with a name. */
  readonly values?: readonly string[];
  /** The server keeps it prepared under this name, as long as the connection lives. */
  readonly name?: string;
}

export interface PostgresSession {
  /**
   * Of several statements in one text, those of the last that returns any. One round trip, except
   * when a named statement is first used; resolves with the rows, as texts.
   */
  query(statement: PostgresStatement): Promise<readonly TextRow[]>;
  /** The server's process, known after the first statement. A pooler makes up a number. */
  readonly pid: number | undefined;
  unref(): void;
  /** Says goodbye if it can, and closes soon. */
  end(): void;
}

export type ConnectPostgres = (terms: WireTerms) => Promise<PostgresSession>;
