/** The errors of Hazelcast's client as `StoreError`s. */

import { describe } from '../../clients/causes.ts';
import { StoreError } from '../../contract/errors.ts';

/** By the name of the error's class: what was refused before anything was changed. */
const REFUSED: Readonly<Record<string, { readonly retryable: boolean; readonly advice: string }>> =
  {
    ClientOfflineError: { retryable: true, advice: 'cannot be reached' },
    ClientNotActiveError: {
      retryable: false,
      advice: 'is not asked any more: its client is shut down',
    },
    AuthenticationError: { retryable: false, advice: 'does not know this client' },
    CPGroupDestroyedError: { retryable: true, advice: 'has destroyed this CP group' },
    CannotReplicateError: { retryable: true, advice: 'has too much to do' },
    NotLeaderError: { retryable: true, advice: 'is electing a leader' },
    IllegalArgumentError: { retryable: false, advice: 'refused the request' },
    UnsupportedOperationError: { retryable: false, advice: 'has no CP Subsystem' },
  };

export function storeError(error: unknown): StoreError {
  const refused = REFUSED[(error as Error | undefined)?.constructor?.name ?? ''];
  const { retryable = true, advice = 'broke the connection, or failed' } = refused ?? {};
  return new StoreError(`The Hazelcast cluster ${advice} (${describe(error)}).`, {
    ...{ cause: error, retryable, outcome: refused ? 'failed' : 'unknown' },
  });
}
