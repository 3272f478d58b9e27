import type { Clock } from '../base/clock.ts';
import type { EventLoop, KeepAlive } from '../base/event-loop.ts';
import type { Looks } from '../store-calls/looks.ts';
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
  readonly clock: Clock;
  readonly events: Events;
  readonly heartbeat: Heartbeat;
  readonly keepAlive: KeepAlive;
  readonly looks: Looks;
  readonly loop: EventLoop;
  readonly settings: Settings;
}
