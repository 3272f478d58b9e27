import type { Kind } from '../contract/store.ts';

/** What a primitive asks for, checked and complete. */
export interface Spec {
  readonly resource: string;
  readonly kind: Kind;
  /** The part of the limit that it takes. */
  readonly permits: number;
  readonly limit: number;
  readonly ttlMs: number;
  readonly minHoldMs: number;
  readonly maxHoldMs: number | undefined;
  readonly heartbeat: boolean;
  readonly reentrant: boolean;
  /** Equal for the tasks of this process that share a claim; undefined: each has its own. */
  readonly key: string | undefined;
}
