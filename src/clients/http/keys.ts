/**
 * Names as keys of services over HTTP, which read meaning into `/`, `.` and control characters.
 * Different names have different keys, and a prefix of a name has a prefix of its key.
 */
export interface Keys {
  keyOf(name: string): string;
  /** The name of a key; undefined for one that `keyOf` has not made. */
  nameOf(key: string): string | undefined;
  /** What begins the keys of all names with this prefix; those of other names may begin so, too. */
  beginningOf(prefix: string): string;
}

/** Letters stay what they are. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what has to be found.
export const KEYS: Keys = keysWithout(/[%/\\\u0000-\u001f\u007f\u{fffe}\u{ffff}]/gu);

/** For services that refuse characters which their own tables do not know as printable. */
export const ASCII_KEYS: Keys = keysWithout(/[%/\\]|[^ -~]/gu);

function keysWithout(special: RegExp): Keys {
  const beginningOf = (name: string): string => name.replace(special, encodeURIComponent);
  const keyOf = (name: string): string =>
    /^\.+$/.test(name) ? name.replaceAll('.', '%2E') : beginningOf(name);
  return {
    keyOf,
    nameOf(key) {
      try {
        const name = decodeURIComponent(key);
        return keyOf(name) === key ? name : undefined;
      } catch {
        return undefined;
      }
    },
    beginningOf: (prefix) => (/^\.+$/.test(prefix) ? '' : beginningOf(prefix)),
  };
}
