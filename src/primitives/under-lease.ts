import { LeaseLostError } from '../core/errors.ts';

/**
 * Does the work, then `after`. If the lease was lost meanwhile it rejects with `LeaseLostError`,
 * the work's error as its cause, even when the work fulfilled.
 */
export async function underLease<T>(
  lease: { readonly loss: LeaseLostError | undefined },
  work: () => Promise<T>,
  after?: () => Promise<void>,
): Promise<T> {
  let outcome: { value: T } | { error: unknown };
  try {
    outcome = { value: await work() };
  } catch (error) {
    outcome = { error };
  }
  const { loss } = lease;
  await after?.();
  const error = 'error' in outcome ? outcome.error : undefined;
  if (loss && loss !== error) {
    const { resource = '', reason, detail } = loss;
    throw new LeaseLostError(resource, reason, { detail, cause: error });
  }
  if ('error' in outcome) throw outcome.error;
  return outcome.value;
}
