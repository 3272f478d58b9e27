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

/**
 * What is asked in one turn is one call for each group, with at most so many questions. A call that
 * fails does so for all of them.
 */
export function together<Q, A>(
  askAll: (questions: readonly Q[]) => Promise<readonly (A | Promise<A>)[]>,
  most: number,
  groupOf: (question: Q) => string = () => '',
): (question: Q) => Promise<A> {
  const calls = new Map<string, { readonly asked: Q[]; readonly all: ReturnType<typeof askAll> }>();
  return async (question) => {
    const group = groupOf(question);
    let call = calls.get(group);
    if (!call) {
      const asked: Q[] = [];
      const leave = () => {
        calls.delete(group);
        return askAll(asked);
      };
      call = { asked, all: Promise.resolve().then(leave) };
      calls.set(group, call);
    }
    const nth = call.asked.push(question) - 1;
    if (call.asked.length === most) calls.delete(group);
    return (await call.all)[nth] as A | Promise<A>;
  };
}
