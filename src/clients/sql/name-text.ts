/**
 * Names as a database stores them.
 *
 * PostgreSQL takes no text with a NUL inside; SQLite keeps it, but its JSON functions and some
 * bindings end the text there, so two names would become one. NUL and the mark itself are therefore
 * written as the mark and a digit: different names stay different, and prefixes stay prefixes.
 */
const MARK = '\u0001';

export function toText(name: string): string {
  if (!name.includes('\0') && !name.includes(MARK)) return name;
  return name.replaceAll(MARK, `${MARK}1`).replaceAll('\0', `${MARK}0`);
}

export function fromText(text: string): string {
  if (!text.includes(MARK)) return text;
  return text.replaceAll(`${MARK}0`, '\0').replaceAll(`${MARK}1`, MARK);
}

/** A lower bound of all stored names after this one. */
export function next(text: string): string {
  return `${text}${MARK}`;
}
