import type { ClaimStatus } from '../../contract/store.ts';

/** Without a queue, waiting claims try again after about so long, each at a time of its own. */
export function sooner(statuses: readonly ClaimStatus[], meanMs: number): ClaimStatus[] {
  return statuses.map((status) => {
    if (status.state !== 'waiting' || status.why !== 'queue') return status;
    const pause = meanMs * (0.5 + Math.random());
    return { ...status, retryInMs: Math.min(status.retryInMs, pause) };
  });
}

/** A claim that cannot listen asks by itself. */
export async function ifHeard(following: Promise<AsyncDisposable>): Promise<AsyncDisposable> {
  return following.catch(() => ({ [Symbol.asyncDispose]: async () => {} }));
}
