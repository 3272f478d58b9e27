/**
 * What a store promises. Core never branches on a store's name, only on these. A trait that is left
 * out promises the least.
 */
export interface Traits {
  /** Keeps waiting claims in order. Without it, waiting claims are tried again. */
  readonly queue: boolean;
  /** Where the fencing tokens come from; undefined: none. */
  readonly tokens: string | undefined;
  /** Whose clock measures a claim's life. */
  readonly clock: 'process' | 'machine' | 'server';
  /** Where it can be shared. */
  readonly reach: 'process' | 'machine' | 'network';
  /**
   * Takes claims for less than the whole limit: readers, and permits of a semaphore. Default false:
   * each holder takes the whole limit.
   */
  readonly permits?: boolean | undefined;
  /** A try is refused only if the resource is held. Default false: a try may fail spuriously. */
  readonly atomicTry?: boolean | undefined;
  /** What ends a claim without heartbeats: its TTL (default), or the end of its session. */
  readonly liveness?: 'ttl' | 'session' | undefined;
  /** What happens to granted claims when a server is lost; default `none`: they are lost. */
  readonly failover?: 'none' | 'best-effort' | 'linearizable' | undefined;
  /** Has `keep` and `recall`: records that outlive their work. Default false. */
  readonly records?: boolean | undefined;
  /** Keeps marks, and ends a claim only if it waits: a claim may replace others. Default false. */
  readonly replaces?: boolean | undefined;
  /** TTLs are rounded up to multiples of this; default 1 ms. */
  readonly ttlStepMs?: number | undefined;
  /**
   * Verbs do their work before they first yield, so core needs no time-outs for replies. Default
   * false.
   */
  readonly synchronous?: boolean | undefined;
  /**
   * Elements of a batch are separate steps in order, so a resource may occur in it more than once.
   * Default false.
   */
  readonly sequential?: boolean | undefined;
  /**
   * A `held` hint is as good as a reply: its number is one that the store gave, and a program that
   * may only send messages cannot make it. Default false: it only makes core ask.
   */
  readonly hintsGrant?: boolean | undefined;
}
