import { isLockError } from '../../base/errors.ts';
import { describe } from '../../clients/causes.ts';
import { StoreError } from '../../contract/errors.ts';
import { type CpSubsystem, type Hazelcast, refuseUnsafe } from './client.ts';

export interface HazelcastGroup {
  /** Returns the client, always the same. */
  readonly open: () => Promise<Hazelcast>;
  readonly group: string;
  readonly allowUnsafe: boolean;
}

/** More than this are not remembered: each costs a request to make. */
const MAX_PROXIES = 10_000;

/** Carries out work with the client's object of this name. */
export type WithProxy<T> = <R>(name: string, use: (proxy: T) => Promise<R>) => Promise<R>;

/** The client's objects for those of the CP group, each asked for once. */
export function proxiesOf<T>(
  { open, group, allowUnsafe }: HazelcastGroup,
  make: (cp: CpSubsystem, name: string) => Promise<T>,
): WithProxy<T> {
  const made = new Map<string, Promise<T>>();
  let safe: Promise<void> | undefined;
  const find = async (name: string): Promise<T> => {
    const cp = (await open()).getCPSubsystem();
    if (!allowUnsafe) safe ??= refuseUnsafe(cp);
    await safe;
    return make(cp, `${name}@${group}`);
  };
  return async (name, use) => {
    const proxy = made.get(name) ?? find(name);
    if (made.size >= MAX_PROXIES) made.clear();
    made.set(name, proxy);
    try {
      return await use(await proxy);
    } catch (error) {
      // It may be of a group that is gone.
      made.delete(name);
      safe = undefined;
      throw isLockError(error) ? error : storeError(error);
    }
  };
}

/** `@` begins the group in a name, and blanks around it are cut off. */
export function objectName(name: string): string {
  return name.replace(/[%@]|^\s|\s$/g, encodeURIComponent);
}

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

function storeError(error: unknown): StoreError {
  const refused = REFUSED[(error as Error | undefined)?.constructor?.name ?? ''];
  const [retry, advice] = refused ?? ['later', 'broke the connection, or failed'];
  return new StoreError(`The Hazelcast cluster ${advice} (${describe(error)}).`, {
    cause: error,
    retryable: retry === 'later',
    outcome: refused ? 'failed' : 'unknown',
  });
}
