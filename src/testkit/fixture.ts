import type { Clock } from '../base/clock.ts';
import type { Store } from '../contract/store.ts';

export interface FixtureOptions {
  /** Longest queue of waiting claims of one resource; the store's default if undefined. */
  readonly maxWaiters?: number | undefined;
  /** For how many ms the store grants nothing after `forget()`. */
  readonly quarantineMs?: number | undefined;
}

/** Where one case runs: data of its own, which all its connections share. */
export interface Fixture {
  /** A store on the fixture's data. The suite closes each store that it connects. */
  connect(): Store | Promise<Store>;
  /** The clock of the store, if the store takes one; otherwise time is real. */
  readonly clock?: Clock;
  /** Makes the store lose its data, like a server that crashes and keeps nothing on disk. */
  forget?(): void | Promise<void>;
  /** As `connect`, for a program that does not wait after `forget()` as all others do. */
  trusting?(): Store | Promise<Store>;
  /** A short TTL that the store keeps on a busy machine, in ms; default 400, or 600 far away. */
  readonly shortMs?: number;
  /** How much later than asked for a claim may end, in ms, by the steps of the store's clock. */
  readonly slackMs?: number;
  /** Moves the clock by which the store counts lives forward, at once or nearly so. */
  leap?(ms: number): void | Promise<void>;
  /** Removes the data, after all connections have been closed. */
  dispose?(): void | Promise<void>;
}
