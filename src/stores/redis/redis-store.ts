/**
 * Locks in Redis: the verbs of the contract as scripts, one command for all claims of a slot.
 *
 * Invariant: each claim is one step of one script, on the server's clock (lua/queue.lua says why
 * that excludes), which grants nothing while data may have been lost (lua/record.lua). Where
 * replicas must have a grant, it counts only once they do (script-runner.ts).
 */

import { refusalCode } from '../../clients/redis/errors.ts';
import type { RedisReply } from '../../clients/redis/link.ts';
import type { MessageSource } from '../../clients/wire.ts';
import type { Kept, RecordTerms } from '../../contract/records.ts';
import type {
  Claim,
  ClaimStatus,
  Eviction,
  Queue,
  Store,
  Subscribed,
  Traits,
  Wake,
} from '../../contract/store.ts';
import { garbled, letterOf, standingIn, statusOf } from '../status-lines.ts';
import { Wakes } from '../wakes.ts';
import { type Form, RECALL } from './forms.ts';
import { ScriptRunner, type ScriptRunnerParts, type Spread } from './script-runner.ts';

export interface RedisStoreParts extends Omit<ScriptRunnerParts, 'settings'> {
  readonly form: Form;
  readonly namespace: string;
  /** What names of channels begin with, or `-` for none; default: one of the namespace. */
  readonly channels?: string;
  readonly maxWaiters: number;
  readonly trust: boolean;
  readonly replicas: number;
}

/** In a cluster a slot may lose its record alone: a `maxTtl` of fewer ms counts as this there. */
const CLUSTER_MS = 30_000;

/** The verbs that take a batch. */
type RedisVerb = 'claim' | 'renew' | 'release';

export class RedisStore implements Store {
  readonly name: string;
  readonly traits: Traits;
  readonly lineage: string;
  readonly maxTtlMs: number;
  /** In a cluster, the slot, by the key of its record. */
  readonly partOf: ((resource: string) => string) | undefined;
  readonly #parts: RedisStoreParts;
  readonly #wakes: Wakes;
  readonly #runner: ScriptRunner;

  constructor(parts: RedisStoreParts) {
    const { form, link, namespace, places, replicas } = parts;
    this.#parts = parts;
    if (places.many) this.partOf = (name) => places.recordOf(places.keyOf(name));
    this.name = form.name;
    this.maxTtlMs = parts.maxTtlMs;
    this.lineage = `${form.name}:${namespace}${places.tag}`;
    this.traits = { ...form.traits, hintsGrant: form.traits.hintsGrant && replicas === 0 };
    const { channels: wakePrefix = places.own('wake:') } = parts;
    const listen: MessageSource['listen'] = async (channel, received, resumed) => {
      const wake = (message?: string) => (message === undefined ? resumed() : received(message));
      await link.follow('', channel, wake, 'cluster');
    };
    this.#wakes = new Wakes({ listen }, wakePrefix, parts.hazards.unwoken);
    const flags = `${replicas > 0 ? 'w' : '-'}${parts.trust ? 't' : '-'}`;
    const settings = (word: string, maxTtlMs: number): string =>
      `${flags}${maxTtlMs}/${link.database} ${word} ${parts.maxWaiters} ${wakePrefix}`;
    const maxTtlMs = Math.max(parts.maxTtlMs, places.inCluster ? CLUSTER_MS : 0);
    this.#runner = new ScriptRunner({ ...parts, maxTtlMs, settings });
  }

  claim(claims: readonly Claim[]): Promise<readonly ClaimStatus[]> {
    return this.#statuses('claim', claims, (claim) => this.#terms(claim, claim.queue ? 'q' : 't'));
  }

  claimAll(claims: readonly Claim[]): Promise<readonly ClaimStatus[]> {
    return this.#statuses('claim', claims, (claim) => this.#terms(claim, 'a'));
  }

  renew(claims: readonly Claim[]): Promise<readonly ClaimStatus[]> {
    return this.#statuses('renew', claims, ({ id, ttlMs }) => id + Math.ceil(ttlMs));
  }

  async release(claims: readonly Claim[], after?: { readonly ms: number }): Promise<boolean[]> {
    const afterMs = Math.ceil(Math.max(0, after?.ms ?? 0));
    const { proves } = this.#parts.form;
    const argumentOf = ({ id, ttlMs, unanswered, secret }: Claim): string => {
      const ttl = Math.ceil(ttlMs);
      const shown = proves && secret !== undefined ? ` 0 ${secret}` : '';
      if (!unanswered && afterMs === 0) return `${id}-${ttl}${shown}`;
      return `${id}${unanswered ? 'u' : 'a'}${ttl} ${afterMs}`;
    };
    return (await this.#verb('release', claims, argumentOf)).map(isReleased);
  }

  async inspect(resource: string): Promise<Queue> {
    const lines: unknown = await this.#change(resource, 'inspect');
    if (!Array.isArray(lines)) throw garbled(lines);
    const closed = lines.findIndex((line) => String(line).startsWith('q '));
    const [last] = closed < 0 ? [] : lines.splice(closed, 1);
    const quarantineMs = last === undefined ? undefined : Number(String(last).slice(2));
    const standings = lines.map(standingIn);
    const members = (held: boolean) =>
      standings.filter((each) => each.held === held).map(({ member }) => member);
    const limits = standings.map(({ limit }) => limit);
    const limit = limits.length > 0 ? Math.min(...limits) : undefined;
    return { resource, limit, holders: members(true), waiters: members(false), quarantineMs };
  }

  watch(claim: Claim, wake: Wake): Subscribed {
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

  async evict(resource: string, number: bigint, { reason, now }: Eviction): Promise<boolean> {
    const when = now ? 'now' : 'later';
    return (await this.#change(resource, 'evict', String(number), reason, when)) === 1;
  }

  async keep(claim: Claim, { text, ms }: RecordTerms): Promise<boolean> {
    const { form, places } = this.#parts;
    const keys = [places.keyOf(claim.resource), places.keptOf(claim.resource)];
    const args = [claim.id, Math.ceil(Math.max(0, ms)).toFixed(0), text];
    const call = { script: form.keep, keys, args, spread: this.#spreadOf([claim]) };
    const [kept = null] = await this.#runner.run(call);
    if (kept === 0 || kept === 1) return kept === 1;
    throw garbled(kept);
  }

  async recall(resource: string): Promise<Kept | undefined> {
    const call = { script: RECALL, keys: [this.#parts.places.keptOf(resource)], args: [] };
    const found = await this.#runner.run(call);
    const [text, leftMs] = found;
    if (found.length === 0) return undefined;
    if (typeof text !== 'string' || typeof leftMs !== 'number') throw garbled(found);
    return { text, leftMs };
  }

  async *list(prefix: string): AsyncGenerator<string, void, void> {
    const { link, places } = this.#parts;
    // SCAN takes patterns.
    const match = `${places.keyOf(prefix).replace(/[\\*?[\]^]/g, '\\$&')}*`;
    const seen = new Set<string>();
    for (const send of await link.primaries()) {
      let cursor = '0';
      do {
        const scanned = await send(['SCAN', cursor, 'MATCH', match, 'COUNT', '1000']);
        const [next, keys] = scanned as [string, readonly string[]];
        for (const key of keys) {
          const name = places.nameOf(key);
          if (seen.has(name)) continue;
          seen.add(name);
          const queue = await this.inspect(name).catch(unlooked);
          if (queue && queue.holders.length + queue.waiters.length > 0) yield name;
        }
        cursor = next;
      } while (cursor !== '0');
    }
  }

  close(): Promise<void> {
    return this.#parts.link.close();
  }

  #terms(claim: Claim, how: 'q' | 't' | 'a'): string {
    const { id, kind, permits, limit, ttlMs, holder } = claim;
    const what = `${letterOf(kind)} ${permits} ${limit} ${Math.ceil(ttlMs)}`;
    return `${id}${how}${what} ${this.#wakes.tagOf(claim)} ${JSON.stringify(holder)}`;
  }

  async #verb(
    verb: RedisVerb,
    claims: readonly Claim[],
    argumentOf: (claim: Claim) => string,
  ): Promise<readonly RedisReply[]> {
    if (claims.length === 0) return [];
    const { form, places } = this.#parts;
    const keys: string[] = [];
    for (const claim of claims) for (const key of places.keysOf(claim)) keys.push(key);
    const spread = verb === 'release' ? undefined : this.#spreadOf(claims);
    return this.#runner.run({ script: form[verb], keys, args: claims.map(argumentOf), spread });
  }

  #spreadOf(claims: readonly Claim[]): Spread | undefined {
    const { replicas } = this.#parts;
    if (replicas === 0) return undefined;
    return { replicas, ms: Math.min(...claims.map(({ ttlMs }) => ttlMs)) / WAITS_PER_TTL };
  }

  async #statuses(
    verb: RedisVerb,
    claims: readonly Claim[],
    argumentOf: (claim: Claim) => string,
  ): Promise<readonly ClaimStatus[]> {
    const replies = await this.#verb(verb, claims, argumentOf);
    return claims.map((claim, i) => {
      const status = statusOf(replies[i], claim.ttlMs);
      this.#wakes.saw(claim, status);
      return status;
    });
  }

  async #change(resource: string, ...args: readonly string[]): Promise<RedisReply> {
    const { form, places } = this.#parts;
    const call = { script: form.change, keys: places.lookOf(resource), args };
    const [answer = null] = await this.#runner.run(call);
    return answer;
  }
}

function isReleased(reply: RedisReply): boolean {
  if (typeof reply === 'number') return reply === 1;
  const status = statusOf(reply, 0);
  throw status.state === 'error' ? status.error : garbled(reply);
}

/** Skips a key that is not ours, in a list of all. */
function unlooked(error: unknown): undefined {
  if (refusalCode(error) !== 'WRONGTYPE') throw error;
}

/** WAIT may take one such part of the TTL: less than core waits for a reply. */
const WAITS_PER_TTL = 6;
