/**
 * Redlock as a layer: several independent stores that act as one, which goes on while fewer than
 * half of them are down, slow, or have lost their memory.
 *
 * quorum-claim.ts argues when a claim is held, and why no two are; this is the contract around it.
 * Each request of core is one round of requests; a hint from a member only makes core ask. Claims
 * for the whole limit only. The member that two majorities share knows of a claim for the whole
 * limit, but not of permits that other members gave: with a limit of two, three members give three.
 */
import { createHash } from 'node:crypto';
import { Answer } from '../../base/answer.ts';
import { type Clock, checkClock } from '../../base/clock.ts';
import { type Duration, positive } from '../../base/duration.ts';
import { UsageError } from '../../base/errors.ts';
import { type Checked, checkOptions } from '../../base/options.ts';
import { permanentFailure } from '../../contract/errors.ts';
import type { Claim, ClaimStatus, Store, Traits, Wake } from '../../contract/store.ts';
import { checkBoolean, partOf } from '../../store-calls/replies.ts';
import { MemberStore } from './member-store.ts';
import { QuorumClaim } from './quorum-claim.ts';
import { find, inspect, majorityAnswers } from './view.ts';

export interface QuorumOptions {
  /**
   * The time limit for one member; default a tenth of the TTL. It should be far longer than a
   * member usually takes: a slower one counts as down.
   */
  readonly patience?: Duration;
  /** For tests. */
  readonly clock?: Clock;
}

const CHECKS = { patience: positive(), clock: checkClock };

/**
 * Several independent stores as one.
 *
 * @example
 * import { createLocks } from 'holdfast';
 * import { quorum } from 'holdfast/quorum';
 * import { redisStore } from 'holdfast/redis';
 * import { Redis } from 'ioredis';
 *
 * const members = ['redis1', 'redis2', 'redis3'].map((host) => redisStore(new Redis({ host })));
 * const locks = createLocks(quorum(members));
 *
 * @param members an odd number of at least three, the same for all users, in the same order.
 * @throws UsageError
 */
export function quorum(members: readonly Store[], options: QuorumOptions = {}): Store {
  return new Quorum(checkMembers(members), checkOptions(options, CHECKS, 'quorum'));
}

class Quorum implements Store {
  readonly name = 'quorum';
  readonly traits: Traits;
  readonly maxTtlMs: number | undefined;
  /** Names the parts of all members together. */
  readonly partOf: ((resource: string) => string) | undefined;
  readonly #clock: Clock;
  readonly #members: readonly MemberStore[];
  readonly #raises: boolean;
  readonly #claims = new Map<string, { readonly own: QuorumClaim; until: number }>();
  readonly #wakes = new Map<string, Wake>();

  constructor(stores: readonly Store[], { patience: patienceMs, clock }: Checked<typeof CHECKS>) {
    this.#clock = clock;
    this.#members = stores.map((store) => new MemberStore(store, clock, patienceMs));
    this.traits = traitsOf(stores);
    if (stores.some((store) => store.partOf)) {
      this.partOf = (resource) => stores.map((store) => partOf(store, resource)).join(' ');
    }
    this.#raises = this.traits.tokens !== undefined;
    const limits = stores.flatMap(({ maxTtlMs }) => maxTtlMs ?? []);
    this.maxTtlMs = limits.length > 0 ? Math.min(...limits) : undefined;
  }

  /** Tokens compare as long as the members stay the same, and no member's count begins anew. */
  get lineage(): string {
    if (!this.#raises) return '';
    const lineages = this.#members.map(({ store }) => store.lineage).sort();
    const [first = ''] = lineages;
    const same = lineages.every((each) => each === first);
    const digest = (): string => createHash('sha256').update(lineages.join('\n')).digest('hex');
    return `quorum:${lineages.length}:${same ? first : digest().slice(0, 32)}`;
  }

  readonly claim: Store['claim'] = (claims) =>
    Promise.all(claims.map((claim) => this.#enter(claim)));

  readonly renew: Store['renew'] = (claims) =>
    Promise.all(claims.map((claim) => this.#own(claim).ask('renew')));

  /** One failure rejects them all: core repeats them together, which is harmless. */
  release(claims: readonly Claim[], after?: { readonly ms: number }): Promise<readonly boolean[]> {
    const afterMs = after?.ms ?? 0;
    return Promise.all(
      claims.map((claim) => this.#own(claim, Math.max(claim.ttlMs, afterMs)).release(afterMs)),
    );
  }

  readonly inspect: Store['inspect'] = (resource) => inspect(this.#members, resource);

  async watch({ id }: Claim, wake: Wake): Promise<AsyncDisposable> {
    this.#wakes.set(id, wake);
    const end = async (): Promise<void> => void this.#wakes.delete(id);
    return { [Symbol.asyncDispose]: end };
  }

  readonly evict: Required<Store>['evict'] = async (resource, number, eviction) => {
    const sightings = await find(this.#members, { resource, number });
    const evicted = await Answer.all(
      sightings.map(({ member, seen }) => {
        const asked = member.within(async () =>
          checkBoolean((await member.store.evict?.(resource, seen.number, eviction)) ?? false),
        );
        return Answer.from(asked);
      }),
    );
    return evicted.some(Boolean);
  };

  async *list(prefix: string): AsyncGenerator<string, void, void> {
    const lists = await majorityAnswers(this.#members, async ({ store }) => {
      const names: string[] = [];
      for await (const name of store.list?.(prefix) ?? []) names.push(name);
      return names;
    });
    yield* new Set(lists.flatMap(([, names]) => names));
  }

  async close(): Promise<void> {
    await Answer.all(this.#members.map(({ store }) => Answer.of<void>(() => store.close?.())));
  }

  async #enter(claim: Claim): Promise<ClaimStatus> {
    const { permits, limit } = claim;
    if (permits >= limit) return this.#own(claim).ask('claim');
    const why = `A quorum takes claims for the whole limit only, not for ${permits} of ${limit}.`;
    return { state: 'error', error: permanentFailure(why) };
  }

  #own(claim: Claim, keepMs = 2 * claim.ttlMs): QuorumClaim {
    const now = this.#clock.now();
    const known = this.#claims.get(claim.id);
    const until = Math.max(known?.until ?? 0, now + keepMs);
    // Moves it to the end, so that the claims unused for longest come first.
    this.#claims.delete(claim.id);
    for (const [id, stale] of this.#claims) {
      if (stale.until > now) break;
      this.#claims.delete(id);
    }
    const own = known?.own ?? this.#open(claim);
    this.#claims.set(claim.id, { own, until });
    return own;
  }

  #open(claim: Claim): QuorumClaim {
    const { id } = claim;
    const wake = this.#wakes.has(id) ? () => this.#wakes.get(id)?.() : undefined;
    const mark = createHash('sha256').update(`mark ${id}`).digest('hex').slice(0, 16);
    const marked = { ...claim, holder: { ...claim.holder, mark } };
    const parts = { members: this.#members, clock: this.#clock, raises: this.#raises, wake };
    return new QuorumClaim(marked, parts);
  }
}

function checkMembers(given: readonly Store[]): readonly Store[] {
  if (!Array.isArray(given)) throw new UsageError('quorum takes a list of stores.');
  const stores: readonly Store[] = [...given];
  const { length } = stores;
  if (length < 3 || length % 2 === 0) {
    const why = 'an even number survives no more failures than one less';
    throw new UsageError(`quorum takes an odd number of stores from 3, not ${length}: ${why}.`);
  }
  if (new Set(stores).size < length) throw new UsageError('quorum takes each store once.');
  for (const store of stores) {
    const parts = [store?.claim, store?.renew, store?.release, store?.inspect, store?.traits];
    if (!parts.every(Boolean))
      throw new UsageError('quorum takes stores, such as redisStore(client).');
  }
  return stores;
}

/** The traits of a quorum of these stores. A try may fail: two may each get a few votes. */
function traitsOf(members: readonly Store[]): Traits {
  const all = members.map(({ traits }) => traits);
  const any = <K extends keyof Traits>(name: K, value: Traits[K]): boolean =>
    all.some((traits) => traits[name] === value);
  const raised = members.every(({ raise, traits }) => raise && traits.tokens !== undefined);
  return {
    // The order is that at the waiting place, as long as that stays the same.
    queue: all.every(({ queue }) => queue),
    tokens: raised ? 'majority' : undefined,
    liveness: any('liveness', 'session') ? 'session' : 'ttl',
    clock: any('clock', 'server') ? 'server' : any('clock', 'machine') ? 'machine' : 'process',
    failover: 'best-effort',
    reach: any('reach', 'process') ? 'process' : any('reach', 'machine') ? 'machine' : 'network',
    ttlStepMs: Math.max(...all.map(({ ttlStepMs = 1 }) => ttlStepMs)),
  };
}
