/**
 * Locks in a database whose routines are the queue: the verbs of the contract as calls.
 *
 * Invariant: each claim is one step of one transaction, on the server's clock, under the lock of
 * its resource (`schema.sql` of each store says why that excludes), and the reply comes after its
 * commit. This file has no rule about locks, only how verbs become calls.
 */
import type { Clock } from '../../base/clock.ts';
import type { Kept } from '../../contract/records.ts';
import type { Claim, ClaimStatus, Queue, Store, Traits, Wake } from '../../contract/store.ts';
import { fromText, toText } from '../name-text.ts';
import { garbled, standingIn, statusIn } from '../status-lines.ts';
import { Wakes } from '../wakes.ts';
import { askApart, type Reply, untilFree } from './apart.ts';
import type { Lane, SqlLink } from './link.ts';
import { Polling } from './polling.ts';
import { statusFrom, yesOrNo } from './replies.ts';
import { Sweeper } from './sweeper.ts';
import { subjectOf, termsOf } from './terms.ts';
import type { Routine } from './wire.ts';

export interface SqlStoreParts {
  readonly name: string;
  readonly traits: Traits;
  readonly lineage: string;
  readonly link: SqlLink;
  readonly clock: Clock;
  readonly maxTtlMs: number;
  readonly maxWaiters: number;
  readonly trust: boolean;
  /** The server may reply before a commit is on disk. */
  readonly fast: boolean;
  /** The database has `claim_one` and `release_one`. */
  readonly singles?: boolean;
}

/** The prefix of all channels; the address of a process follows. */
const CHANNEL = 'holdfast_';

interface CallOf {
  readonly ttlMs: number;
  /** Default: that of the claims. */
  readonly lane?: Lane;
}

type Call = (routine: Routine, args: readonly string[]) => Promise<readonly string[]>;

const CLAIMS = { lane: 'claims' } as const;

const LANES: Readonly<Record<'claim' | 'renew' | 'release', Lane>> = {
  claim: 'claims',
  renew: 'heartbeats',
  release: 'releases',
};

/** How many names one call asks for. */
const PAGE = 1000;

export class SqlStore implements Store {
  readonly name: string;
  readonly traits: Traits;
  readonly lineage: string;
  readonly maxTtlMs: number;
  readonly #parts: SqlStoreParts;
  readonly #wakes: Wakes;
  readonly #polling: Polling;
  readonly #sweeper: Sweeper;
  #known = { patience: 0, settings: '' };

  constructor(parts: SqlStoreParts) {
    const { link, clock } = parts;
    this.#parts = parts;
    this.name = parts.name;
    this.traits = parts.traits;
    this.lineage = parts.lineage;
    this.maxTtlMs = parts.maxTtlMs;
    this.#wakes = new Wakes(link, CHANNEL);
    this.#polling = new Polling({ clock, look: (ids) => this.#look(ids) });
    this.#sweeper = new Sweeper(clock, link);
  }

  async claim(claims: readonly Claim[]): Promise<readonly ClaimStatus[]> {
    const [claim] = claims;
    const single = this.#parts.singles && claims.length === 1 && claim;
    const statuses = await (single
      ? this.#claimOne(single)
      : this.#statuses('claim', claims, this.#terms));
    this.#sweeper.due();
    return statuses;
  }

  renew(claims: readonly Claim[]): Promise<readonly ClaimStatus[]> {
    return this.#statuses('renew', claims, subjectOf);
  }

  async release(
    claims: readonly Claim[],
    after?: { readonly ms: number },
  ): Promise<readonly boolean[]> {
    const afterMs = Math.ceil(Math.max(0, after?.ms ?? 0));
    const [claim] = claims;
    if (this.#parts.singles && claims.length === 1 && claim && !claim.unanswered && afterMs === 0) {
      return this.#releaseOne(claim);
    }
    const lines = await this.#batch('release', claims, (each) => ({
      ...subjectOf(each),
      unanswered: each.unanswered === true,
      after: afterMs,
    }));
    return lines.map(yesOrNo);
  }

  async inspect(resource: string): Promise<Queue> {
    const lines = await this.#alone({ ttlMs: this.maxTtlMs }, (call, waitMs) =>
      call('inspect', [this.#settings(waitMs), toText(resource)]),
    );
    const standings = lines.map(standingIn);
    const members = (held: boolean) =>
      standings.filter((each) => each.held === held).map(({ member }) => member);
    const limits = standings.map(({ limit }) => limit);
    const limit = limits.length > 0 ? Math.min(...limits) : undefined;
    return { resource, limit, holders: members(true), waiters: members(false) };
  }

  async watch(claim: Claim, wake: Wake): Promise<AsyncDisposable> {
    const known = this.#parts.link.hears();
    const hears = typeof known === 'boolean' ? known : await known.catch(() => true);
    return hears ? this.#wakes.watch(claim, wake) : this.#polling.watch(claim, wake);
  }

  async downgrade({ resource, id, ttlMs }: Claim): Promise<ClaimStatus> {
    return statusIn(
      await this.#change({ verb: 'downgrade', resource: toText(resource), id }, ttlMs),
    );
  }

  async evict(
    resource: string,
    number: bigint,
    { reason, now }: { readonly reason: string; readonly now: boolean },
  ): Promise<boolean> {
    const change = {
      verb: 'evict',
      resource: toText(resource),
      number: String(number),
      now,
      // Databases take no NUL in a text, and no code compares reasons.
      reason: reason.replaceAll('\0', '\ufffd'),
    };
    return yesOrNo(await this.#change(change, this.maxTtlMs));
  }

  async keep(
    { resource, id, ttlMs }: Claim,
    { text, ms }: { readonly text: string; readonly ms: number },
  ): Promise<boolean> {
    const terms = [toText(resource), id, toText(text), String(Math.ceil(ms))];
    const [line = ''] = await this.#alone({ ttlMs }, (call, waitMs) =>
      call('keep', [this.#settings(waitMs), ...terms]),
    );
    return yesOrNo(line);
  }

  async recall(resource: string): Promise<Kept | undefined> {
    const [line] = await this.#parts.link.call('recall', [toText(resource)], CLAIMS);
    if (line === undefined) return undefined;
    const space = line.indexOf(' ');
    if (!(space > 0)) throw garbled(line);
    return { text: fromText(line.slice(space + 1)), leftMs: Number(line.slice(0, space)) };
  }

  async *list(prefix: string): AsyncGenerator<string, void, void> {
    const text = toText(prefix);
    if (prefix !== '') {
      // `names` returns only names after the given one, not the prefix itself.
      const { holders, waiters } = await this.inspect(prefix);
      if (holders.length + waiters.length > 0) yield prefix;
    }
    for (let after = text, full = true; full; ) {
      const names = await this.#parts.link.call('names', [after, String(PAGE)], CLAIMS);
      for (const name of names) {
        if (!name.startsWith(text)) return;
        yield fromText(name);
        after = name;
      }
      full = names.length === PAGE;
    }
  }

  async close(): Promise<void> {
    this.#polling.close();
    await this.#parts.link.close();
  }

  readonly #terms = (claim: Claim): object => termsOf(claim, this.#wakes.tagOf(claim).split(' '));

  async #claimOne(claim: Claim): Promise<readonly ClaimStatus[]> {
    const terms = Object.values(this.#terms(claim)).map(String);
    const [line = ''] = await this.#alone(claim, (call, waitMs) =>
      call('claim_one', [...this.#plainSettings(waitMs), ...terms]),
    );
    const status = statusIn(line);
    this.#polling.saw(claim, status);
    return [status];
  }

  async #releaseOne({ resource, id, ttlMs }: Claim): Promise<readonly boolean[]> {
    const terms = [toText(resource), id, String(Math.ceil(ttlMs))];
    const [line = ''] = await this.#alone({ ttlMs, lane: 'releases' }, (call, waitMs) =>
      call('release_one', [...this.#plainSettings(waitMs), ...terms]),
    );
    return [yesOrNo(line)];
  }

  async #statuses(
    verb: 'claim' | 'renew',
    claims: readonly Claim[],
    termsOf: (claim: Claim) => object,
  ): Promise<readonly ClaimStatus[]> {
    const lines = await this.#batch(verb, claims, termsOf);
    return claims.map((claim, i) => {
      const status = statusFrom(lines[i] ?? '');
      this.#polling.saw(claim, status);
      return status;
    });
  }

  #batch(
    verb: 'claim' | 'renew' | 'release',
    claims: readonly Claim[],
    termsOf: (claim: Claim) => object,
  ): Promise<readonly Reply[]> {
    const ttlMs = Math.min(...claims.map((claim) => claim.ttlMs));
    const call = this.#caller({ ttlMs, lane: LANES[verb] });
    return askApart(claims, this.#parts.clock, (some, waitMs) =>
      call(verb, [this.#settings(waitMs), JSON.stringify(some.map(termsOf))]),
    );
  }

  async #change(change: object, ttlMs: number): Promise<string> {
    const [line = ''] = await this.#alone({ ttlMs }, (call, waitMs) =>
      call('change', [this.#settings(waitMs), JSON.stringify(change)]),
    );
    return line;
  }

  /** Asks again while the row of this one claim is busy. */
  #alone(
    terms: CallOf,
    ask: (call: Call, waitMs: number) => Promise<readonly string[]>,
  ): Promise<readonly string[]> {
    const call = this.#caller(terms);
    const { clock } = this.#parts;
    return untilFree({ clock, ttlMs: terms.ttlMs }, (waitMs) => ask(call, waitMs));
  }

  /**
   * Makes calls only within the TTL, counted from now. Core gives a claim up after a third of it,
   * and the tombstone of its release lasts for a whole one: a later call might find it gone.
   */
  #caller({ ttlMs, lane = 'claims' }: CallOf): Call {
    const { clock, link } = this.#parts;
    const until = clock.now() + ttlMs;
    return (routine, args) => link.call(routine, args, { lane, withinMs: until - clock.now() });
  }

  async #look(ids: readonly string[]): Promise<ReadonlyMap<string, ClaimStatus>> {
    const lines = await this.#parts.link.call('look', [JSON.stringify(ids)], CLAIMS);
    return new Map(lines.map((line) => [line.slice(0, 32), statusIn(line.slice(33))]));
  }

  /** Mostly the same JSON as last time, so it is kept. */
  #settings(patience: number): string {
    const { maxTtlMs, maxWaiters, trust, fast } = this.#parts;
    if (patience !== this.#known.patience) {
      const settings = { maxTtl: maxTtlMs, maxWaiters, trust, fast, wake: CHANNEL, patience };
      this.#known = { patience, settings: JSON.stringify(settings) };
    }
    return this.#known.settings;
  }

  #plainSettings(patience: number): string[] {
    const { maxTtlMs, fast } = this.#parts;
    return [this.#settings(patience), String(patience), String(maxTtlMs), String(fast)];
  }
}
