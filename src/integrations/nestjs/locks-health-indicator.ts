import { setTimeout as sleep } from 'node:timers/promises';
import { type Duration, duration } from '../../base/duration.ts';
import { messageOf, UsageError } from '../../base/errors.ts';
import { checkOptions } from '../../base/options.ts';
import type { Locks } from '../../locks.ts';
import { ready } from '../../operators/ready.ts';

export interface LocksHealthOptions {
  /** How long the store may take to reply; default 1 s: health checks come every few seconds. */
  readonly timeout?: Duration;
}

/** The result for `@nestjs/terminus`; before version 11 it took `down` for healthy. */
export type LocksHealth<Key extends string = string> = Record<
  Key,
  { readonly status: 'up' | 'down'; readonly message?: string }
>;

const CHECKS = { timeout: duration('1s') };

/**
 * Checks whether the store of these locks replies: one round trip, which inspects a queue and takes
 * no lock. For `@nestjs/terminus` from version 11 on, or any health check. Use it for readiness,
 * not for liveness: restarting the process does not make a store reply.
 */
export class LocksHealthIndicator {
  readonly #locks: Locks;

  constructor(locks: Locks) {
    if (typeof (locks as Partial<Locks> | undefined)?.inspect !== 'function') {
      throw new UsageError('LocksHealthIndicator takes Locks.');
    }
    this.#locks = locks;
  }

  /**
   * `{ [key]: { status: 'up' } }`, or `down` with a message. Rejects only wrong arguments.
   * @param key The key of the result; default `locks`.
   * @throws UsageError
   */
  async isHealthy<const Key extends string = 'locks'>(
    key: Key = 'locks' as Key,
    options: LocksHealthOptions = {},
  ): Promise<LocksHealth<Key>> {
    const { timeout } = checkOptions(options, CHECKS, 'isHealthy');
    const over = new AbortController();
    const late = sleep(timeout, `The store did not answer within ${timeout} ms.`, over);
    const replied = ready(this.#locks).then(() => undefined, messageOf);
    const message = await Promise.race([replied, late]);
    over.abort();
    const health = message === undefined ? { status: 'up' } : { status: 'down', message };
    return { [key]: health } as LocksHealth<Key>;
  }
}
