const [FIRST_MS, MAX_MS] = [2_000, 60_000];

/**
 * How long until a stream that the server refused is asked for again, in ms, after this many
 * refusals in a row: a dashboard that is closed refuses for good.
 */
export function retryMs(refusals: number): number {
  return Math.min(FIRST_MS * 2 ** (refusals - 1), MAX_MS);
}
