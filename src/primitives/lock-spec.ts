/** The options of a lock, checked against those of its store and of `createLocks`. */

import { UsageError } from '../base/errors.ts';
import type { Checked } from '../base/options.ts';
import type { Kind } from '../contract/store.ts';
import type { Engine } from '../core/engine.ts';
import type { Spec } from '../core/spec.ts';
import { atMost, type LOCK } from './lock-options.ts';

export type Asked = Checked<typeof LOCK> & { readonly kind: Kind; readonly limit: number };

/** Below this, in ms, the margin and a busy machine would use up the lease. */
const MIN_TTL_MS = 100;

/** @throws UsageError */
export function specOf(engine: Engine, resource: string, options: Asked): Spec {
  const { kind, fair, heartbeat, ttl, minHold, maxHold: maxHoldMs, ...rest } = options;
  const ttlMs = ttlOf(engine, ttl);
  const minHoldMs = withinMaxTtl(engine, minHold, 'minHold');
  if (maxHoldMs !== undefined && maxHoldMs < minHoldMs) {
    throw new UsageError('maxHold must not be less than minHold.');
  }
  // Without heartbeats, or with minHold, a lease lasts as long as its own claim.
  const whole = heartbeat && minHoldMs === 0;
  const shared = !fair && whole && (kind === 'mutex' || kind === 'write');
  const key = shared ? `${kind} ${ttlMs} ${maxHoldMs ?? ''} ${resource}` : undefined;
  const permits = kind === 'write' ? rest.limit : 1;
  return { ...rest, resource, kind, permits, ttlMs, minHoldMs, maxHoldMs, heartbeat, key };
}

/** In ms. @throws UsageError */
export function ttlOf(engine: Engine, ttl: number | undefined): number {
  const { calls, settings } = engine.services;
  const ttlMs = ttl ?? settings.ttlMs;
  const least = Math.max(MIN_TTL_MS, calls.store.traits.ttlStepMs ?? 1);
  if (ttlMs < least) throw new UsageError(`ttl must be at least ${least} ms, not ${ttlMs}.`);
  return withinMaxTtl(engine, ttlMs, 'ttl');
}

function withinMaxTtl({ services }: Engine, ms: number, what: string): number {
  const { store } = services.calls;
  const { maxTtlMs } = services.settings;
  const where = maxTtlMs === store.maxTtlMs ? `the ${store.name} store` : 'createLocks';
  return atMost(maxTtlMs, { ms, what, where });
}
