/** The options of a lock, checked against those of its store and of `createLocks`. */

import { type Duration, parseDuration } from '../base/duration.ts';
import { UsageError } from '../base/errors.ts';
import type { Kind } from '../contract/store.ts';
import type { Engine } from '../core/engine.ts';
import type { Spec } from '../core/local-queue.ts';
import type { LockOptions } from './lock-options.ts';

export interface Asked extends LockOptions {
  readonly kind: Kind;
  readonly limit: number;
}

/** Below this, in ms, the margin and a busy machine would use up the lease. */
const MIN_TTL_MS = 100;

/** @throws UsageError */
export function specOf(engine: Engine, resource: string, options: Asked): Spec {
  const { kind, limit, fair = false, reentrant = false, heartbeat = true } = options;
  const { minHold = 0, maxHold } = options;
  const ttlMs = ttlOf(engine, options.ttl);
  const minHoldMs = atMost(engine, parseDuration(minHold, 'minHold'), 'minHold');
  const maxHoldMs = maxHold === undefined ? undefined : parseDuration(maxHold, 'maxHold');
  if (maxHoldMs === 0) throw new UsageError('maxHold must be more than 0.');
  if (maxHoldMs !== undefined && maxHoldMs < minHoldMs) {
    throw new UsageError('maxHold must not be less than minHold.');
  }
  for (const [what, flag] of Object.entries({ fair, reentrant, heartbeat })) {
    if (typeof flag !== 'boolean') throw new UsageError(`${what} must be true or false.`);
  }
  // Without heartbeats, and with minHold, a lease is as long as its own claim.
  const whole = heartbeat && minHoldMs === 0;
  const shared = !fair && whole && (kind === 'mutex' || kind === 'write');
  const key = `${kind} ${ttlMs} ${maxHoldMs ?? ''} ${resource}`;
  return {
    ...{ resource, kind, limit, ttlMs, minHoldMs, maxHoldMs, heartbeat, reentrant, shared, key },
  };
}

/** In ms. @throws UsageError */
export function ttlOf(engine: Engine, ttl: Duration | undefined): number {
  const { calls, settings } = engine.services;
  const ttlMs = ttl === undefined ? settings.ttlMs : parseDuration(ttl, 'ttl');
  const least = Math.max(MIN_TTL_MS, calls.store.traits.ttlStepMs);
  if (ttlMs < least) throw new UsageError(`ttl must be at least ${least} ms, not ${ttlMs}.`);
  return atMost(engine, ttlMs, 'ttl');
}

function atMost({ services }: Engine, ms: number, what: string): number {
  const { store } = services.calls;
  const { maxTtlMs } = services.settings;
  if (ms <= maxTtlMs) return ms;
  const where = maxTtlMs === store.maxTtlMs ? `the ${store.name} store` : 'createLocks';
  const raise = `raise the option maxTtl of ${where} for all users of the store`;
  throw new UsageError(`${what} is ${ms} ms, more than maxTtl, ${maxTtlMs} ms: ${raise}.`);
}
