/**
 * Locks in a table of a database, each in a row of its own: the verbs of the contract as
 * statements.
 *
 * Invariant: each verb is one step of the queue in the row, on the server's clock, in one
 * transaction, and the reply comes after its commit. Four kinds of steps are statements that
 * decide by the row alone: taking a free row or lining up behind its holder, renewing the hold, and
 * ending it. All other steps are made here on the queue that was read, and written back if the row
 * is still the same (`applying.ts`). Of several claims of one lock in a batch, those that a
 * statement may enter come first, so that they take effect in their order.
 */
import type { Clock } from '../../base/clock.ts';
import { together } from '../../base/single-flight.ts';
import { isBlocked } from '../../clients/sql/judge.ts';
import { fromText, next, toText } from '../../clients/sql/name-text.ts';
import {
  type Claim,
  type ClaimStatus,
  MAX_BATCH,
  type Store,
  type Traits,
} from '../../contract/store.ts';
import { errorStatus, type StoreVerbs } from '../batch.ts';
import { SERVER_QUEUES } from '../status-lines.ts';
import { enterAll } from './all-or-none.ts';
import { Applying, type ClaimStep, type How } from './applying.ts';
import { LockWakes } from './lock-wakes.ts';
import { crowdOf } from './row.ts';
import { firsts, runs } from './runs.ts';
import { Sweeper } from './sweeper.ts';
import type { Table } from './table.ts';

export interface SqlRowStoreParts {
  readonly name: string;
  readonly lineage: string;
  readonly table: Table;
  readonly clock: Clock;
  readonly maxTtlMs: number;
  readonly maxWaiters: number;
  readonly trust: boolean;
}

/** How many names one question is about. */
const PAGE = 500;

export class SqlRowStore implements Store {
  readonly name: string;
  readonly traits: Traits = SERVER_QUEUES;
  readonly lineage: string;
  readonly maxTtlMs: number;
  readonly #parts: SqlRowStoreParts;
  readonly #table: Table;
  readonly #applying: Applying;
  readonly #wakes: LockWakes;
  readonly #sweeper: Sweeper;
  /** The looks of one turn are one statement. */
  readonly inspect: StoreVerbs['inspect'] = together(async (names: readonly string[]) => {
    const asked = names.map((resource) => ({ resource, ttlMs: this.maxTtlMs }));
    return this.#applying.apply(
      asked,
      ({ resource }, { queue }, { now }) => queue.describe(resource, now / 1000),
      { lane: 'claims' },
    );
  }, MAX_BATCH);

  constructor(parts: SqlRowStoreParts) {
    const { table, clock } = parts;
    this.#parts = parts;
    this.#table = table;
    this.name = parts.name;
    this.lineage = parts.lineage;
    this.maxTtlMs = parts.maxTtlMs;
    this.#applying = new Applying(table, clock);
    this.#wakes = new LockWakes(table, clock, parts.maxTtlMs);
    this.#sweeper = new Sweeper(clock, table);
  }

  claim(claims: readonly Claim[]): Promise<readonly ClaimStatus[]> {
    const since = this.#parts.clock.now();
    const [alone] = claims;
    const inAnyWay = (): Promise<readonly ClaimStatus[]> => this.#claimMany(claims, since);
    if (claims.length !== 1 || !alone || !this.#table.isQuiet(alone.resource)) return inAnyWay();
    this.#sweeper.due();
    return this.#table
      .takeFree({ claim: alone, tag: this.#wakes.tagOf(alone) })
      .or(notIfBlocked)
      .chain<readonly ClaimStatus[]>((held) => (held ? [this.#saw(alone, held)] : inAnyWay()));
  }

  async #claimMany(claims: readonly Claim[], since: number): Promise<readonly ClaimStatus[]> {
    const { maxWaiters, trust, clock } = this.#parts;
    // However many statements it takes: the tombstone of a claim that is given up ends soon after.
    const asked = runs(claims, maxWaiters).map((claim) => {
      return { claim, tag: this.#wakes.tagOf(claim) };
    });
    const terms = { maxWaiters, trust, sinceMs: clock.now() - since };
    const taken = await this.#table.take(asked, terms).catch(notIfBlocked);
    this.#sweeper.due();
    return this.#statuses(claims, { lane: 'claims', since }, taken, this.#enter);
  }

  readonly #enter: ClaimStep<ClaimStatus> = (claim, { queue, tags }, { now, highest }) => {
    const { maxWaiters, trust: trusts } = this.#parts;
    const number = BigInt(Math.max(now, highest + 1));
    const status = queue.enter(claim, now / 1000, { number, maxWaiters, trusts });
    if (status.state !== 'gone') tags.set(claim.id, this.#wakes.tagOf(claim));
    return status;
  };

  async claimAll(claims: readonly Claim[]): Promise<readonly ClaimStatus[]> {
    const terms = { rows: this.#table, clock: this.#parts.clock, enter: this.#enter };
    const statuses = await enterAll(claims, terms);
    this.#sweeper.due();
    return claims.map((claim, i) => this.#saw(claim, statuses[i] as ClaimStatus));
  }

  async renew(claims: readonly Claim[]): Promise<readonly ClaimStatus[]> {
    const renewed = await this.#table.beat(firsts(claims)).catch(notIfBlocked);
    const how = { lane: 'heartbeats' } as const;
    return this.#statuses(claims, how, renewed, (claim, { queue }, { now }) =>
      queue.beat(claim, now / 1000),
    );
  }

  release(claims: readonly Claim[], after?: { readonly ms: number }): Promise<readonly boolean[]> {
    const afterMs = Math.max(0, after?.ms ?? 0);
    const [alone] = claims;
    const inAnyWay = (): Promise<readonly boolean[]> => this.#releaseAll(claims, afterMs);
    const simple = claims.length === 1 && alone && afterMs === 0 && !alone.unanswered;
    if (!simple || !this.#table.isQuiet(alone.resource)) return inAnyWay();
    return this.#table
      .leaveFree(alone)
      .or(notIfBlocked)
      .chain<readonly boolean[]>((left) => (left ? [true] : inAnyWay()));
  }

  async #releaseAll(claims: readonly Claim[], afterMs: number): Promise<readonly boolean[]> {
    const simple = afterMs > 0 ? [] : firsts(claims).filter((claim) => !claim.unanswered);
    const left = await this.#table.leave(simple).catch(notIfBlocked);
    const rest = claims.filter(({ id }) => !left?.has(id));
    const leave: ClaimStep<boolean> = (claim, { queue, tags }, { now }) => {
      const there = queue.leave(claim, now / 1000, afterMs);
      if (afterMs <= 0) tags.delete(claim.id);
      return there;
    };
    const replies = this.#applying.apply(rest, leave, { lane: 'releases' }).values();
    return Promise.all(claims.map(({ id }) => left?.has(id) || (replies.next().value ?? false)));
  }

  readonly watch: StoreVerbs['watch'] = (claim, wake) => this.#wakes.watch(claim, wake);

  readonly downgrade: StoreVerbs['downgrade'] = (claim) =>
    this.#one(claim, (_, { queue }, { now }) => queue.downgrade(claim, now / 1000));

  readonly evict: StoreVerbs['evict'] = (resource, number, eviction) => {
    // Databases take no NUL in a text, and no code compares reasons.
    const options = { ...eviction, reason: eviction.reason.replaceAll('\0', '\ufffd') };
    return this.#one({ resource, ttlMs: this.maxTtlMs }, (_, { queue }, { now }) =>
      queue.evict(number, now / 1000, options),
    );
  };

  readonly keep: StoreVerbs['keep'] = async (claim, { text, ms }) => {
    const record = { text: toText(text), ms: Math.ceil(ms) };
    const terms = { lane: 'claims' as const, withinMs: claim.ttlMs };
    for (let rev = 0; !(await this.#table.keep(claim, rev, record)); ) {
      // A hold in an odd row is known only here: the record is kept if that row is still the same.
      const { moment, rows } = await this.#table.read([toText(claim.resource)], terms);
      const [row] = rows;
      const { queue } = crowdOf(row, moment);
      if (!row || !queue.keep(claim, moment.now / 1000, { text: '', ms: 0 })) return false;
      rev = row.rev;
    }
    return true;
  };

  readonly recall: StoreVerbs['recall'] = (resource) => this.#table.recall(resource);

  readonly handOver: StoreVerbs['handOver'] = async (claim, ids) => {
    const status = await this.#one(claim, (_, { queue, tags }, { now }) => {
      // Who gives it wants no more messages about it.
      if (claim.id === ids.to) tags.set(claim.id, this.#wakes.tagOf(claim));
      return queue.handOver(claim, ids, now / 1000);
    });
    return this.#saw(claim, status);
  };

  async *list(prefix: string): AsyncGenerator<string, void, void> {
    const text = toText(prefix);
    for (let from = text, full = true; full; ) {
      const { moment, rows } = await this.#table.names(from, PAGE);
      for (const row of rows) {
        if (!row.name.startsWith(text)) return;
        from = next(row.name);
        const { queue } = crowdOf(row, moment);
        const { holders, waiters } = queue.describe('', moment.now / 1000);
        if (holders.length + waiters.length > 0) yield fromText(row.name);
      }
      full = rows.length === PAGE;
    }
  }

  async close(): Promise<void> {
    this.#wakes.close();
    await this.#table.link.close();
  }

  /** The statuses that a statement has returned, and for the other claims those of steps. */
  async #statuses(
    claims: readonly Claim[],
    how: How,
    known: ReadonlyMap<string, ClaimStatus> | undefined,
    step: ClaimStep<ClaimStatus>,
  ): Promise<readonly ClaimStatus[]> {
    const rest = claims.filter(({ id }) => !known?.has(id));
    const steps = this.#applying.apply(rest, step, how);
    // A claim alone is the whole verb.
    const others = claims.length > 1 ? steps.map((each) => each.catch(errorStatus)) : steps;
    const replies = (await Promise.all(others)).values();
    return claims.map((claim) =>
      this.#saw(claim, known?.get(claim.id) ?? (replies.next().value as ClaimStatus)),
    );
  }

  #saw(claim: Claim, status: ClaimStatus): ClaimStatus {
    this.#wakes.saw(claim, status);
    return status;
  }

  #one<T, C extends Pick<Claim, 'resource' | 'ttlMs'>>(of: C, step: ClaimStep<T, C>): Promise<T> {
    const [made] = this.#applying.apply([of], step, { lane: 'claims' });
    return made as Promise<T>;
  }
}

/** What could not be had at once was not done. */
async function notIfBlocked(error: unknown): Promise<undefined> {
  if (!isBlocked(error)) throw error;
}
