import type { Kind } from '../contract/store.ts';

/** What a primitive asks for, checked and complete. */
export interface Spec {
  readonly resource: string;
  readonly kind: Kind;
  readonly limit: number;
  readonly ttlMs: number;
  readonly minHoldMs: number;
  readonly maxHoldMs: number | undefined;
  readonly heartbeat: boolean;
  readonly reentrant: boolean;
  /** Tasks of this process share one claim. */
  readonly shared: boolean;
  /** Equal for waiters that may share a claim. */
  readonly key: string;
}
