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
}

/** @throws Error if the text is not there exactly once, so that the catalogue cannot rot. */
export function plant(text: string, { name, file, find, replace }: Fault): string {
  const times = text.split(find).length - 1;
  if (times !== 1) throw new Error(`The text of '${name}' is ${times} times in ${file}.`);
  return text.replace(find, () => replace);
}
