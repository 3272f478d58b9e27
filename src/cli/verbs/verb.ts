import type { Arguments, Flags } from '../arguments.ts';

/** A verb of the command line. */
export interface Verb {
  readonly help: string;
  readonly flags: Flags;
  readonly takesCommand?: boolean;
  /** Resolves with the exit status. */
  run(given: Arguments): Promise<number>;
}
