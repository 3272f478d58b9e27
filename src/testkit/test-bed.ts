/** The means of a case: connections to one store, fresh names, claims, and time. */
import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { type Clock, sleep, systemClock } from '../base/clock.ts';
import type { Claim, ClaimStatus, Queue, Store, Takeover, Wake } from '../contract/store.ts';
import { createLocks, type Locks } from '../locks.ts';
import type { LocksOptions } from '../primitives/lock-options.ts';
import { partOf } from '../store-calls/replies.ts';

/** The TTL of claims that must outlive their case, in ms. */
export const LONG_MS = 20_000;

/** The TTL of claims that must die in their case: long enough for a machine under load. */
const SHORT_MS = 400;
/** The same where each request crosses a network and waits its turn at a server. */
const SHORT_REMOTE_MS = 600;

/** How often `until` looks, in ms. */
const LOOK_MS = 10;

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

export class TestBed {
  readonly store: Store;
  readonly clock: Clock;
  /** A short TTL that the store can keep, in ms. */
  readonly ttlMs: number;
  /** How much a life may differ from the requested one, in ms: rounding. */
  readonly slackMs: number;
  /** Many times the rounding of the store's clock, in ms. */
  readonly pauseMs: number;
  readonly #fixture: Fixture;
  readonly #patienceMs: number;
  readonly #stores: Set<Store>;
  readonly #area = `case-${randomBytes(6).toString('hex')}/`;
  readonly #cleanups: (() => unknown)[] = [];
  #made = 0;

  private constructor(fixture: Fixture, store: Store, patienceMs: number) {
    this.#fixture = fixture;
    this.#patienceMs = patienceMs;
    this.store = store;
    this.#stores = new Set([store]);
    this.clock = fixture.clock ?? systemClock();
    const { reach, ttlStepMs: step = 1 } = store.traits;
    const { shortMs: short = reach === 'network' ? SHORT_REMOTE_MS : SHORT_MS } = fixture;
    const { slackMs = 0 } = fixture;
    this.ttlMs = Math.ceil(short / step) * step;
    this.slackMs = step + slackMs + 2;
    this.pauseMs = 30 + 5 * this.slackMs;
  }

  /** `patienceMs` is how long `until` looks. */
  static async open(fixture: Fixture, patienceMs: number): Promise<TestBed> {
    return new TestBed(fixture, await fixture.connect(), patienceMs);
  }

  /** Another connection to the same data. */
  async connect(): Promise<Store> {
    const store = await this.#fixture.connect();
    this.#stores.add(store);
    return store;
  }

  /** A connection of a program that does not wait after a loss of data. */
  async trusting(): Promise<Store> {
    assert.ok(this.#fixture.trusting, 'the fixture has trusting()');
    const store = await this.#fixture.trusting();
    this.#stores.add(store);
    return store;
  }

  /** Locks that end with the case. Their TTL is long, so that claims left behind are noticed. */
  locks(options: LocksOptions = {}, store: Store = this.store): Locks {
    const ttl = Math.min(LONG_MS, store.maxTtlMs ?? LONG_MS);
    const locks = createLocks(store, { ttl, ...options, clock: this.clock });
    this.cleanup(() => locks.close({ drain: 0 }));
    return locks;
  }

  /** Runs at the end of the case, the latest first. */
  cleanup(run: () => unknown): void {
    this.#cleanups.push(run);
  }

  async close(): Promise<void> {
    for (const run of this.#cleanups.reverse()) await run();
    for (const store of this.#stores) await store.close?.();
    await this.#fixture.dispose?.();
  }

  /** The store loses all data, while the connections stay. */
  async forget(): Promise<void> {
    assert.ok(this.#fixture.forget, 'the fixture has forget()');
    await this.#fixture.forget();
  }

  /** Lets this much time pass for the store, and next to none for the case. */
  async leap(ms: number): Promise<void> {
    assert.ok(this.#fixture.leap, 'the fixture has leap()');
    await this.#fixture.leap(ms);
  }

  /** A resource of this case alone. */
  name(text = 'resource'): string {
    return this.#area + text;
  }

  claim(over: Partial<Claim> = {}): Claim {
    return {
      resource: this.name(),
      id: randomBytes(16).toString('hex'),
      secret: randomBytes(16).toString('hex'),
      kind: 'mutex',
      permits: 1,
      limit: 1,
      ttlMs: LONG_MS,
      queue: true,
      holder: { host: 'test', pid: process.pid, label: `claim ${++this.#made}`, since: Date.now() },
      ...over,
    };
  }

  /** On another resource of this case. */
  claimOn(name: string, over: Partial<Claim> = {}): Claim {
    return this.claim({ resource: this.name(name), ...over });
  }

  async enter(claim: Claim, store: Store = this.store): Promise<ClaimStatus> {
    return one(await store.claim([claim]));
  }

  /** Enters the claims as core does, in one batch for each part of the store. */
  enterBatch(claims: readonly Claim[], store: Store = this.store): Promise<ClaimStatus[]> {
    return inParts(store, claims, (those) => store.claim(those));
  }

  beatBatch(claims: readonly Claim[], store: Store = this.store): Promise<ClaimStatus[]> {
    return inParts(store, claims, (those) => store.renew(those));
  }

  leaveBatch(
    claims: readonly Claim[],
    options: { readonly after?: { readonly ms: number }; readonly store?: Store } = {},
  ): Promise<boolean[]> {
    const { after, store = this.store } = options;
    return inParts(store, claims, (those) => store.release(those, after));
  }

  /** New claims with these terms, which enter one after the other. */
  async entered<T extends Partial<Claim>[]>(...terms: T): Promise<{ [K in keyof T]: Claim }> {
    const claims = terms.map((over) => this.claim(over));
    await this.enterAll(claims);
    return claims as unknown as { [K in keyof T]: Claim };
  }

  /** Enters the claims one after the other. */
  async enterAll(claims: readonly Claim[]): Promise<ClaimStatus[]> {
    const statuses: ClaimStatus[] = [];
    for (const claim of claims) statuses.push(await this.enter(claim));
    return statuses;
  }

  async beat(claim: Claim, store: Store = this.store): Promise<ClaimStatus> {
    return one(await store.renew([claim]));
  }

  async leave(claim: Claim, after?: { readonly ms: number }): Promise<boolean> {
    return one(await this.store.release([claim], after));
  }

  /** Ends the hold like this; a claim that is to expire must live for a short time. */
  async end(how: Takeover['reason'], claim: Claim, token: bigint): Promise<void> {
    if (how === 'released') await this.leave(claim);
    else if (how === 'expired') await this.untilDead(claim);
    else await this.evict({ resource: claim.resource, token, now: true });
  }

  evict(how: { token: bigint; now: boolean; resource?: string }): Promise<boolean> {
    assert.ok(this.store.evict, 'the store has evict()');
    const { resource = this.name(), token, now } = how;
    return this.store.evict(resource, token, { reason: 'test', now });
  }

  look(resource: string = this.name()): Promise<Queue> {
    return this.store.inspect(resource);
  }

  /** How many hold the resource, and how many wait for it. */
  async counts(resource?: string): Promise<readonly [holders: number, waiters: number]> {
    const { holders, waiters } = await this.look(resource);
    return [holders.length, waiters.length];
  }

  /** The listed resources of this case whose names begin so. */
  async list(prefix = ''): Promise<string[]> {
    const listed: string[] = [];
    for await (const each of this.store.list?.(this.name(prefix)) ?? []) listed.push(each);
    return listed.sort();
  }

  /** Subscribes to the claim's hints until the case ends. */
  async watch(claim: Claim, wake: Wake, store: Store = this.store): Promise<AsyncDisposable> {
    assert.ok(store.watch, 'the store has watch()');
    const subscription = await store.watch(claim, wake);
    this.cleanup(() => subscription[Symbol.asyncDispose]());
    return subscription;
  }

  sleep(ms: number): Promise<void> {
    return sleep(this.clock, ms);
  }

  /** Lets time pass; returns how much is left then, at most, of a life that was not prolonged. */
  async age(leftMs: number): Promise<number> {
    await this.sleep(this.pauseMs);
    return leftMs - this.pauseMs + this.slackMs;
  }

  /** Fails if the work has not settled in time. */
  within<T>(ms: number, work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const late = () => reject(new assert.AssertionError({ message: `not done after ${ms} ms` }));
      const timer = this.clock.setTimeout(late, ms);
      work.then(resolve, reject).finally(() => this.clock.clearTimeout(timer));
    });
  }

  /** Fails if it ends earlier than after this many ms, by more than rounding. */
  lasted(from: number, ms: number): void {
    const passed = this.clock.now() - from;
    assert.ok(passed >= ms - this.slackMs, `it lasted for ${passed} of ${ms} ms`);
  }

  /** Long enough for hints on their way to arrive. */
  quiet(): Promise<void> {
    return this.sleep(150);
  }

  /** Calls `reached` again and again until it returns a value. */
  async until<T>(what: string, reached: () => T | Promise<T>): Promise<NonNullable<T>> {
    const end = this.clock.now() + this.#patienceMs;
    while (this.clock.now() < end) {
      const answer = await reached();
      if (answer !== undefined && answer !== null && answer !== false) return answer;
      await this.sleep(LOOK_MS);
    }
    return assert.fail(`in vain waited until ${what}`);
  }

  /** Renews until the claim is held, as waiters without hints do; without a queue, tries again. */
  untilHeld(claim: Claim): Promise<ClaimStatus & { state: 'held' }> {
    return this.until('the claim was held', async () => {
      const status = await (this.store.traits.queue ? this.beat(claim) : this.enter(claim));
      if (status.state === 'held') return status;
      assert.equal(status.state, 'waiting', `the claim must not be lost while it waits`);
      return undefined;
    });
  }

  /** Waits until the claim, which gets no heartbeats, is no longer in its queue. */
  untilDead(claim: Claim): Promise<unknown> {
    return this.until('the claim was dead', async () => {
      const { holders, waiters } = await this.look(claim.resource);
      // Some stores show no labels.
      const like = [undefined, claim.holder.label];
      return ![...holders, ...waiters].some(({ holder }) => like.includes(holder.label));
    });
  }
}

/** Asks all parts at the same time; returns results in the order of the claims. */
async function inParts<R>(
  store: Store,
  claims: readonly Claim[],
  ask: (those: readonly Claim[]) => Promise<readonly R[]>,
): Promise<R[]> {
  const parts = new Map<string, Claim[]>();
  for (const claim of claims) {
    const part = partOf(store, claim.resource);
    parts.set(part, [...(parts.get(part) ?? []), claim]);
  }
  const answers = new Map<Claim, R>();
  await Promise.all(
    [...parts.values()].map(async (those) => {
      const answered = await ask(those);
      for (const [i, claim] of those.entries()) answers.set(claim, answered[i] as R);
    }),
  );
  return claims.map((claim) => answers.get(claim) as R);
}

function one<T>(answers: readonly T[]): T {
  assert.equal(answers.length, 1, 'one claim gets one answer');
  return answers[0] as T;
}
