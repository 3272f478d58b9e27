/**
 * One process holds two locks. Another tries for the first of them, again and again, and waits in
 * the queue of the second. Then something breaks.
 *
 * Containment is measured on one clock, that of the machine: a try's token is the server's time at
 * its grant, so it is compared with the time at which the holder was last seen to believe. A busy
 * machine makes both late and neither wrong. Where tokens are no times, it is the time at which the
 * grant was heard of.
 */
import type { Lease, LossReason, Store } from 'holdfast';
import type { Claim } from 'holdfast/store';
import { expect } from 'vitest';
import { patiently } from '../../support/patiently.ts';
import { until } from '../../support/until.ts';
import type { Bed, Place, StoreOptions } from './bed.ts';
import { claimOf, hasWaiter, MAX_TTL_MS, sleep, TTL_MS } from './bed.ts';

/** Looks at a lease all the time. */
export class Belief {
  readonly lease: Lease;
  /** In epoch ms, rounded down: when the lease last said that it is held. */
  lastHeldAt = 0;
  #over = false;

  constructor(lease: Lease) {
    this.lease = lease;
    void this.#watch();
  }

  /** Of the signal, which notifies, or of a look, which knows. */
  get told(): boolean {
    return !this.lease.held && this.lease.signal.aborted;
  }

  /** It ended, and was told to have, before this grant of the same resource. */
  expectBefore({ at, token }: Grant): void {
    expect(this.told).toBe(true);
    expect(this.lastHeldAt).toBeLessThanOrEqual(at);
    expect(token * 1024n).toBeGreaterThan(this.lease.token);
  }

  close(): void {
    this.#over = true;
  }

  async #watch(): Promise<void> {
    while (!this.#over && this.look()) await sleep(1);
  }

  /** The time is read first, so that the lease was held at that time at least. */
  look(): boolean {
    const at = Date.now();
    if (!this.lease.held) return false;
    this.lastHeldAt = at;
    return true;
  }
}

export interface Grant {
  readonly claim: Claim;
  readonly token: bigint;
  /** The server's time if tokens are times, in epoch ms. */
  readonly at: number;
}

/** Of a store that answers at once, the time at which it was asked. */
function grantedAt({ traits }: Store, token: bigint, asked: number): number {
  if (traits.tokens?.includes('time')) return Number(token) / 1000;
  return traits.synchronous ? asked : Date.now();
}

/** Tries until it gets it; an error is as good as a refusal. */
export async function firstGrant(store: Store, resource: string): Promise<Grant> {
  const grant = await tryUntil({ store, resource, over: () => false });
  return grant as Grant;
}

type Tries = { readonly store: Store; readonly resource: string; readonly over: () => boolean };

async function tryUntil({ store, resource, over }: Tries): Promise<Grant | undefined> {
  // Always the same, so that one that was granted without an answer is found again.
  const claim = claimOf(resource, { queue: false });
  while (!over()) {
    const asked = Date.now();
    const [status] = await store.claim([claim]).catch(() => []);
    if (status?.state === 'held') {
      return { claim, token: status.token, at: grantedAt(store, status.token, asked) };
    }
    await sleep(2);
  }
  return undefined;
}

/** A server or a proxy, or what opens a store. */
type Open<Options> = Place | ((options: Options) => Promise<Store>);

interface SceneOptions<Options> {
  readonly holder: Open<Options>;
  readonly others: Open<Options>;
  /** Of the holder's store and of the others'. */
  readonly options?: Options;
  readonly ttl?: number;
}

export class Scene<At extends Place> {
  readonly #leave: (server: At) => Promise<void>;
  readonly probed: Belief;
  readonly queued: Belief;
  readonly prober: Store;
  readonly next: Promise<Lease>;
  #grant: Grant | undefined;

  /** Everybody is in place: the holder holds, the waiter stands in the queue. */
  static async set<Options extends StoreOptions, At extends Place>(
    bed: Bed<Options, At>,
    { holder, others, options: given, ttl = TTL_MS }: SceneOptions<Options>,
  ): Promise<Scene<At>> {
    const options = { maxTtl: Math.max(ttl, MAX_TTL_MS), ...given } as Options;
    const open = async (at: Open<Options>): Promise<Store> =>
      typeof at === 'function' ? at(options) : bed.store(at, options);
    const holding = bed.locksOn(await open(holder), ttl);
    const waiting = bed.locksOn(await open(others), ttl);
    const probed = new Belief(await patiently(holding.mutex('probed')));
    const queued = new Belief(await patiently(holding.mutex('queued')));
    const next = patiently(waiting.mutex('queued'));
    // Whoever does not wait for it hears of its end all the same.
    next.catch(() => {});
    await hasWaiter(waiting, 'queued');
    const prober = await open(others);
    // It has a connection before anything breaks.
    await succeeds(() => prober.inspect('probed'));
    for (const belief of [probed, queued]) bed.use(belief);
    return new Scene((server) => bed.end(server), { probed, queued, prober, next });
  }

  private constructor(
    leave: (server: At) => Promise<void>,
    parts: Pick<Scene<At>, 'probed' | 'queued' | 'prober' | 'next'>,
  ) {
    this.#leave = leave;
    this.probed = parts.probed;
    this.queued = parts.queued;
    this.prober = parts.prober;
    this.next = parts.next;
  }

  get reasons(): (LossReason | undefined)[] {
    return [this.probed, this.queued].map(({ lease }) => lease.loss?.reason);
  }

  /** The holder is told of both, by its own clock. */
  async expectExpired(): Promise<void> {
    await until('knew the holder', () => this.probed.told && this.queued.told);
    expect(this.reasons).toEqual(['expired', 'expired']);
  }

  /** The holder loses both, is told first, and the others get them. */
  async expectSucceeded(): Promise<{ readonly grant: Grant; readonly next: Lease }> {
    const heldAtGrant = this.next.then(() => this.queued.lease.held);
    const { grant, next } = await this.#successors();
    this.probed.expectBefore(grant);
    expect(this.queued.told).toBe(true);
    expect(await heldAtGrant).toBe(false);
    expect(next.token).toBeGreaterThan(this.queued.lease.token);
    return { grant, next };
  }

  /**
   * Both leases have had a heartbeat since then, on the clock of `performance`: by the store's
   * record, where it has one, and by themselves, for none ends later than a ttl after it was sent.
   *
   * @throws {LeaseLostError} If one has ended instead.
   */
  async renewedSince(then: number): Promise<void> {
    for (const { lease } of [this.probed, this.queued]) {
      await until(`was ${lease.resource} renewed`, async () => {
        const asked = performance.now();
        if (lease.loss) return true;
        const [holder] = (await this.prober.inspect(lease.resource)).holders;
        if (holder === undefined || asked - (holder.ttlMs - holder.leftMs) <= then) return false;
        return lease.held && performance.now() + lease.remainingMs > then + holder.ttlMs;
      });
      if (lease.loss) throw lease.loss;
    }
  }

  /** Nobody notices but in passing: the leases go on, and the others get them when released. */
  async expectUndisturbed(forMs: number): Promise<void> {
    const end = performance.now() + forMs;
    const over = (): boolean => performance.now() > end;
    const early = await tryUntil({ store: this.prober, resource: 'probed', over });
    expect(early).toBeUndefined();
    expect(this.reasons).toEqual([undefined, undefined]);
    expect(await Promise.race([this.next, sleep(0)])).toBeUndefined();
    await this.#release();
    const { grant, next } = await this.#successors();
    expect(grant.token * 1024n).toBeGreaterThan(this.probed.lease.token);
    expect(next.token).toBeGreaterThan(this.queued.lease.token);
  }

  /** Everybody leaves, and nothing stays. */
  async leave(server: At): Promise<void> {
    const { claim } = this.#grant ?? {};
    if (claim) await succeeds(() => this.prober.release([claim]));
    await (await this.next).release();
    await this.#leave(server);
  }

  async #release(): Promise<void> {
    this.probed.close();
    this.queued.close();
    await Promise.all([this.probed.lease.release(), this.queued.lease.release()]);
  }

  async #successors(): Promise<{ readonly grant: Grant; readonly next: Lease }> {
    const [grant, next] = await Promise.all([firstGrant(this.prober, 'probed'), this.next]);
    this.#grant = grant;
    return { grant, next };
  }
}

/** A busy machine may be too slow for a store now and then. */
async function succeeds(ask: () => Promise<unknown>): Promise<void> {
  await until('did it answer', () => ask().then(() => true));
}
