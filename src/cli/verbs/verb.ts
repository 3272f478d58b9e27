import type { Arguments, Flags } from '../arguments.ts';

export interface CliVerb {
  readonly help: string;
  readonly flags: Flags;
  readonly takesCommand?: boolean;
  /** The only words that it takes, for completion. */
  readonly words?: readonly string[];
  /** Resolves with the exit status. */
  run(given: Arguments, all: ReadonlyMap<string, ListedVerb>): Promise<number>;
}

/** A verb in the table of all of them. */
export interface ListedVerb {
  /** Its name, and what comes behind it. */
  readonly use: string;
  readonly about: string;
  /** On demand: a command should not wait for code that it does not use. */
  readonly load: () => Promise<{ readonly verb: CliVerb }>;
}
