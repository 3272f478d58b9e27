/** What fails with a fault, or failed: a test, a whole file, or a seed of the simulation. */
export interface Notice {
  readonly file?: string;
  /** The names of its groups and its own; none if the file does not load. */
  readonly test?: string;
  readonly seed?: number;
  /** It fails because it hangs, which takes long to find: name another test if you can. */
  readonly hung?: true;
}

/** A small fault, planted in a source of the project to see whether anything notices. */
export interface Fault {
  /** What is wrong then. */
  readonly name: string;
  /** From the root. */
  readonly file: string;
  /** Exact text that stands in the file once. */
  readonly find: string;
  readonly replace: string;
  /** What somebody who uses the library would suffer. */
  readonly why: string;
  /** The cheapest thing that notices it. */
  readonly by: Notice;
}

/** Each by its name. */
export type Faults = Readonly<Record<string, Omit<Fault, 'name'>>>;

/** The test of this name, in groups of these names, notices it. */
export function inTest(file: string, ...names: readonly string[]): Notice {
  return { file, test: names.join(' > ') };
}

/** @throws Error if the text is not there exactly once, so that the catalogue cannot rot. */
export function plant(
  text: string,
  { name, file, find, replace }: Pick<Fault, 'name' | 'file' | 'find' | 'replace'>,
): string {
  const times = text.split(find).length - 1;
  if (times !== 1) throw new Error(`The text of '${name}' is ${times} times in ${file}.`);
  return text.replace(find, () => replace);
}
