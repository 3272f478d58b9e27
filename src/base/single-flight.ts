/** Work that several callers want at a time. */

/** Callers share the work that is under way, which has the arguments of the first. */
export function singleFlight<A extends readonly unknown[], T>(
  work: (...given: A) => Promise<T>,
): (...given: A) => Promise<T> {
  let flight: Promise<T> | undefined;
  return (...given) => {
    flight ??= work(...given).finally(() => {
      flight = undefined;
    });
    return flight;
  };
}

/** All callers share the work once it has succeeded; after a failure it is done again. */
export function keptOnce<T>(work: () => Promise<T>): () => Promise<T> {
  let kept: Promise<T> | undefined;
  return () => {
    kept ??= work().catch((error: unknown) => {
      kept = undefined;
      throw error;
    });
    return kept;
  };
}
