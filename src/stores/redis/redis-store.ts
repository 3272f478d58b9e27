/**
 * Locks in Redis: the verbs of the contract as scripts, one command for all claims of a slot.
 *
 * Invariant: each claim is one step of one script, on the server's clock (lua/queue.lua says why
 * that excludes), and grants nothing while data may have been lost (lua/record.lua). A script that
 * the server does not know has not run, so that it may be loaded and sent again; nothing else is
 * ever sent twice from here. Where replicas must have a grant, it counts only once they do.
 */
import { StoreError } from '../../errors.ts';
import type { Claim, ClaimStatus, Queue, Store, Traits, Wake } from '../../store.ts';
import { garbled, letterOf, type Standing, standingIn, statusOf } from './answers.ts';
import type { Link, Reply } from './client.ts';
import type { ClockWatch } from './clock-watch.ts';
import { refusalCode } from './errors.ts';
import type { Hazards } from './hazards.ts';
import { escapeGlob, type Places } from './places.ts';
import { CHANGE, CLAIM, RELEASE, RENEW, type Script } from './scripts.ts';
import { Wakes } from './wakes.ts';

export interface RedisStoreParts {
  readonly link: Link;
  readonly places: Places;
  readonly hazards: Hazards;
  readonly clockWatch: ClockWatch;
  readonly namespace: string;
  readonly maxTtlMs: number;
  readonly maxWaiters: number;
  readonly trust: boolean;
  readonly replicas: number;
}

export class RedisStore implements Store {
  readonly name = 'redis';
  readonly traits: Traits;
  readonly lineage: string;
  readonly maxTtlMs: number;
  readonly #parts: RedisStoreParts;
  readonly #wakes: Wakes;
  readonly #wakePrefix: string;

  constructor(parts: RedisStoreParts) {
    const { link, namespace, replicas } = parts;
    this.#parts = parts;
    this.maxTtlMs = parts.maxTtlMs;
    this.lineage = `redis:${namespace}`;
    this.traits = { ...TRAITS, hintsGrant: replicas === 0 };
    this.#wakePrefix = `${namespace}!wake:`;
    this.#wakes = new Wakes(link, this.#wakePrefix);
  }

  async claim(claims: readonly Claim[]): Promise<readonly ClaimStatus[]> {
    return this.#statuses(CLAIM, claims, this.#terms);
  }

  renew(claims: readonly Claim[]): Promise<readonly ClaimStatus[]> {
    return this.#statuses(RENEW, claims, ({ id, ttlMs }) => [id, String(ttlMs)]);
  }

  async release(
    claims: readonly Claim[],
    after?: { readonly ms: number },
  ): Promise<readonly boolean[]> {
    const afterMs = String(Math.ceil(Math.max(0, after?.ms ?? 0)));
    const replies = await this.#spread(claims, (those) =>
      this.#verb(RELEASE, those, ({ id, ttlMs, unanswered }) => [
        ...[id, String(ttlMs), afterMs, unanswered ? 'unanswered' : '-'],
      ]),
    );
    return replies.map((reply) => {
      if (typeof reply === 'number') return reply === 1;
      throw garbled(reply);
    });
  }

  async inspect(resource: string): Promise<Queue> {
    const standings = await this.#standings(resource);
    const members = (held: boolean) =>
      standings.filter((each) => each.held === held).map(({ member }) => member);
    const limits = standings.map(({ limit }) => limit);
    const limit = limits.length > 0 ? Math.min(...limits) : undefined;
    return { resource, limit, holders: members(true), waiters: members(false) };
  }

  watch(claim: Claim, wake: Wake): Promise<AsyncDisposable> {
    return this.#wakes.watch(claim, wake);
  }

  async downgrade(claim: Claim): Promise<ClaimStatus> {
    return statusOf(await this.#change(claim.resource, 'downgrade', claim.id), claim.ttlMs);
  }

  raise(claims: readonly Claim[], numbers: readonly bigint[]): Promise<readonly ClaimStatus[]> {
    return Promise.all(
      claims.map(async ({ resource, id, ttlMs }, i) =>
        statusOf(await this.#change(resource, 'raise', id, String(numbers[i])), ttlMs),
      ),
    );
  }

  async evict(
    resource: string,
    number: bigint,
    { reason, now }: { readonly reason: string; readonly now: boolean },
  ): Promise<boolean> {
    const when = now ? 'now' : 'later';
    return (await this.#change(resource, 'evict', String(number), reason, when)) === 1;
  }

  async *list(prefix: string): AsyncGenerator<string, void, void> {
    const { link, places } = this.#parts;
    const match = escapeGlob(places.keyOf(prefix));
    const seen = new Set<string>();
    for (const send of await link.primaries()) {
      let cursor = '0';
      do {
        const [next, keys] = (await send([
          'SCAN',
          cursor,
          'MATCH',
          `${match}*`,
          'COUNT',
          '1000',
        ])) as [string, readonly string[]];
        for (const key of keys) {
          const name = places.nameOf(key);
          if (seen.has(name)) continue;
          seen.add(name);
          if ((await this.#standings(name)).length > 0) yield name;
        }
        cursor = next;
      } while (cursor !== '0');
    }
  }

  close(): Promise<void> {
    return this.#parts.link.close();
  }

  readonly #terms = (claim: Claim): string[] => {
    const { id, kind, permits, limit, ttlMs, queue, holder } = claim;
    const tag = this.#wakes.tagOf(claim);
    const terms = `${letterOf(kind)} ${permits} ${limit} ${ttlMs} ${tag} ${JSON.stringify(holder)}`;
    return [id, String(ttlMs), queue ? 'queue' : 'try', terms];
  };

  /** Asks the server of each slot, all at once, and answers in the order of the claims. */
  async #spread<R>(
    claims: readonly Claim[],
    ask: (those: readonly Claim[]) => Promise<readonly R[]>,
  ): Promise<readonly R[]> {
    const { places } = this.#parts;
    if (!places.many || claims.length === 1) return ask(claims);
    const groups = new Map<string, number[]>();
    claims.forEach(({ resource }, i) => {
      const record = places.recordOf(places.keyOf(resource));
      const group = groups.get(record);
      if (group) group.push(i);
      else groups.set(record, [i]);
    });
    const answers: R[] = new Array(claims.length);
    await Promise.all(
      [...groups.values()].map(async (group) => {
        const replies = await ask(group.map((i) => claims[i] as Claim));
        group.forEach((i, nth) => {
          answers[i] = replies[nth] as R;
        });
      }),
    );
    return answers;
  }

  async #verb(
    script: Script,
    claims: readonly Claim[],
    argumentsOf: (claim: Claim) => readonly string[],
  ): Promise<readonly Reply[]> {
    const keys: string[] = [];
    const args: string[] = [];
    for (const claim of claims) {
      keys.push(this.#parts.places.keyOf(claim.resource));
      args.push(...argumentsOf(claim));
    }
    return this.#run(script, keys, args);
  }

  #statuses(
    script: Script,
    claims: readonly Claim[],
    argumentsOf: (claim: Claim) => readonly string[],
  ): Promise<readonly ClaimStatus[]> {
    return this.#spread(claims, async (those) => {
      const replies = await this.#verb(script, those, argumentsOf);
      const statuses = those.map(({ ttlMs }, i) => statusOf(replies[i], ttlMs));
      const held = those.filter((_, i) => statuses[i]?.state === 'held');
      if (held.length === 0 || (await this.#replicated(held))) return statuses;
      // A claim that was held already goes on; a new one must not stand where nobody knows of it.
      if (script === CLAIM) await this.release(held);
      return statuses.map((status) => (status.state === 'held' ? NOT_REPLICATED : status));
    });
  }

  /** As many replicas as required have what was sent before this. */
  async #replicated(claims: readonly Claim[]): Promise<boolean> {
    const { link, places, replicas } = this.#parts;
    if (replicas === 0) return true;
    const key = places.keyOf(claims[0]?.resource ?? '');
    const patience = Math.min(...claims.map(({ ttlMs }) => ttlMs)) / WAITS_PER_TTL;
    const reached = await link.send(key, ['WAIT', String(replicas), patience.toFixed(0)]);
    return typeof reached === 'number' && reached >= replicas;
  }

  async #change(resource: string, ...args: readonly string[]): Promise<Reply> {
    const [answer = null] = await this.#run(CHANGE, [this.#parts.places.keyOf(resource)], args);
    return answer;
  }

  async #standings(resource: string): Promise<readonly Standing[]> {
    const lines = await this.#change(resource, 'inspect');
    if (!Array.isArray(lines)) throw garbled(lines);
    return lines.map(standingIn);
  }

  /** Runs a script, which the server may not know yet. */
  async #run(
    script: Script,
    keys: readonly string[],
    args: readonly string[],
  ): Promise<readonly Reply[]> {
    const { link, places, hazards, clockWatch } = this.#parts;
    const key = keys[0] as string;
    const record = places.recordOf(key);
    const checked = hazards.check(key);
    if (checked) await checked;
    // In a cluster another slot may have made the script known.
    const known = places.many ? 'fresh' : 'known';
    const sentAt = clockWatch.now();
    const command = (fresh: string): string[] => [
      ...['EVALSHA', script.sha, String(keys.length + 1), record, ...keys],
      ...[...this.#common(fresh), ...args],
    ];
    const reply = await link.send(key, command(known)).catch(async (error: unknown) => {
      if (refusalCode(error) !== 'NOSCRIPT') throw error;
      await hazards.check(key, true);
      await link.send(key, ['SCRIPT', 'LOAD', script.text]);
      return link.send(key, command('fresh'));
    });
    if (!Array.isArray(reply) || typeof reply[0] !== 'number') throw garbled(reply);
    clockWatch.see(record, reply[0], sentAt);
    return reply.slice(1);
  }

  #common(fresh: string): readonly string[] {
    const { maxTtlMs, trust, maxWaiters } = this.#parts;
    const loss = trust ? 'trust' : 'wait';
    return [String(maxTtlMs), fresh, loss, String(maxWaiters), this.#wakePrefix];
  }
}

const TRAITS: Traits = {
  queue: true,
  permits: true,
  tokens: "the server's time, or one more than the last",
  atomicTry: true,
  liveness: 'ttl',
  clock: 'server',
  failover: 'best-effort',
  reach: 'network',
  records: false,
  ttlStepMs: 1,
  synchronous: false,
  sequential: true,
  hintsGrant: true,
};

/** So long may replicas take, as a share of the TTL: less than core waits for an answer. */
const WAITS_PER_TTL = 6;

const NOT_REPLICATED: ClaimStatus = {
  state: 'error',
  error: new StoreError('Too few replicas have the claim in time.', {
    retryable: true,
    outcome: 'unknown',
  }),
};
