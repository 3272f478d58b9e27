import type { Clock } from '../base/clock.ts';
import type { EventLoop, KeepAlive } from '../base/event-loop.ts';
import type { ClaimStatus, Kind } from '../contract/store.ts';
import type { Sender } from '../store-calls/batcher.ts';
import type { StoreCalls } from '../store-calls/store-calls.ts';
import type { Events } from './events.ts';
import type { Heartbeat } from './heartbeat.ts';

/** The options of `createLocks`, checked. */
export interface Settings {
  readonly prefix: string;
  readonly label: string | undefined;
  readonly ttlMs: number;
  readonly waitMs: number | undefined;
  readonly maxTtlMs: number;
  readonly driftRate: number;
  readonly marginMs: number;
}

/** What the parts of core use; made by the engine, and without a way back to it. */
export interface Services {
  readonly calls: StoreCalls;
  /** Sends the request by which a claim begins: `calls.claim`, or its own (newest.ts). */
  readonly entering: Sender<ClaimStatus>;
  readonly clock: Clock;
  readonly events: Events;
  readonly heartbeat: Heartbeat;
  readonly keepAlive: KeepAlive;
  readonly loop: EventLoop;
  readonly settings: Settings;
}

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
  /** How its claim begins; default: as any other. Such a claim is not made again. */
  readonly entering?: Sender<ClaimStatus> | undefined;
  /** Of a hold that was handed over: its token is that of the nth lease on its claim. */
  readonly nth?: number | undefined;
}
