import { describe } from '../../clients/causes.ts';
import { StoreError } from '../../contract/errors.ts';

/** By the name of the error's class: what was refused before anything was changed. */
const REFUSED: Readonly<Record<string, readonly [retry: 'later' | 'never', advice: string]>> = {
  ClientOfflineError: ['later', 'cannot be reached'],
  ClientNotActiveError: ['never', 'is not asked any more: its client is shut down'],
  AuthenticationError: ['never', 'does not know this client'],
  CPGroupDestroyedError: ['later', 'has destroyed this CP group'],
  CannotReplicateError: ['later', 'has too much to do'],
  NotLeaderError: ['later', 'is electing a leader'],
  IllegalArgumentError: ['never', 'refused the request'],
  UnsupportedOperationError: ['never', 'has no CP Subsystem'],
};

export function storeError(error: unknown): StoreError {
  const refused = REFUSED[(error as Error | undefined)?.constructor?.name ?? ''];
  const [retry, advice] = refused ?? ['later', 'broke the connection, or failed'];
  return new StoreError(`The Hazelcast cluster ${advice} (${describe(error)}).`, {
    cause: error,
    retryable: retry === 'later',
    outcome: refused ? 'failed' : 'unknown',
  });
}
