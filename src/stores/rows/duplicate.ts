/** How MySQL and MariaDB say that there is such a row; other libraries wrap the client's error. */
const DUPLICATE = 1062;
/** Looks through at most this many nested errors. */
const DEPTH = 6;

export function isDuplicate(error: unknown): boolean {
  let thrown = error as { readonly errno?: unknown; readonly cause?: unknown } | undefined;
  for (let depth = 0; depth < DEPTH && thrown; depth++) {
    if (thrown.errno === DUPLICATE) return true;
    thrown = thrown.cause as typeof thrown;
  }
  return false;
}
