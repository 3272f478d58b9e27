/**
 * Names as they stand in a database.
 *
 * PostgreSQL takes no text with a NUL inside; SQLite keeps it, but its JSON functions and some
 * bindings end it there, so that two names would become one. Each character is therefore replaced
 * by itself, except NUL and the one that marks the replacement: different names stay different, and
 * prefixes stay prefixes.
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

/** Where the texts after this one begin. */
export function next(text: string): string {
  return `${text}${MARK}`;
}
