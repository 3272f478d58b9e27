import { UsageError } from '../base/errors.ts';
import { checkName } from '../base/names.ts';
import { checkOptions, flag } from '../base/options.ts';
import { numberOf } from '../contract/token.ts';
import { engineOf, type Locks } from '../locks.ts';
import { checkBoolean } from '../store-calls/replies.ts';

export interface EvictOptions {
  /** The token of the lease, or of the waiter, which is its `number` in `inspect`. */
  readonly token: bigint;
  /** Becomes the `detail` of the holder's error. At most 1,024 bytes. */
  readonly reason: string;
  /**
   * Ends the claim at once; only a fence protects then. Default false: it gets no more heartbeats
   * and ends with its TTL, so that its holder stops in time.
   */
  readonly now?: boolean;
}

/** Longest reason of an eviction, in bytes. */
const MAX_REASON_BYTES = 1024;

const EVICT = {
  token: (given: bigint, name: string): bigint => {
    if (typeof given === 'bigint') return given;
    throw new UsageError(`${name} must be a bigint.`);
  },
  reason: (given: string, name: string): string => checkName(given, name, MAX_REASON_BYTES),
  now: flag(),
};

/**
 * Ends the claim of a holder or waiter; false if there is none.
 *
 * @example
 * import { evict } from 'holdfast';
 *
 * const [holder] = (await locks.inspect('report')).holders;
 * if (holder) await evict(locks, 'report', { token: holder.number, reason: 'it hangs' });
 *
 * @throws UsageError synchronously; as rejections ClosedError, StoreError, and UnsupportedError if
 *   the store cannot evict.
 */
export function evict(locks: Locks, name: string, options: EvictOptions): Promise<boolean> {
  const engine = engineOf(locks);
  const { calls } = engine.services;
  const resource = engine.resource(name);
  const { token, ...how } = readEvict(options);
  const send = async (): Promise<boolean> => {
    engine.checkOpen();
    const verb = calls.verb('evict');
    return calls.ask(() => verb(resource, numberOf(token), how), checkBoolean);
  };
  return send();
}

/** @throws UsageError */
export function readEvict(options: EvictOptions): Required<EvictOptions> {
  return checkOptions(options, EVICT, 'evict');
}
