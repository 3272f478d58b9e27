/**
 * Locks in Redis: the verbs of the contract as scripts, one command for all claims of a slot.
 *
 * Invariant: each claim is one step of one script, on the server's clock (lua/queue.lua says why
 * that excludes), which grants nothing while data may have been lost (lua/record.lua). Where
 * replicas must have a grant, it counts only once they do (script-runner.ts).
 * The end of a claim that holds alone grants nothing, so its script does not ask whether data may
 * have been lost: the next claim does. Nor does a hand-off (lua/hand-off.lua) while the highest
 * number in the record is less than a second old, since the next claim holds at no time at which
 * the one before could not have held on: that one lives in this data, and its process held it to
 * the end, or it would show no secret. Heartbeats would prolong it here for as long, even after a
 * loss of other claims. Only a writer may be a reader in what was lost, beside others, so after a
 * writer the script asks.
 * What breaks it: a secret shown by a process that holds no more; a release on its way for so long
 * that its claim is over where it lived, but not on the clock of this server; an eviction at once
 * that a fail-over loses with the grant after it, before the evicted process hears of it.
 */

import { Answer } from '../../base/answer.ts';
import { together } from '../../base/single-flight.ts';
import { refusalCode, refused } from '../../clients/redis/errors.ts';
import type { RedisReply } from '../../clients/redis/link.ts';
import type { MessageSource } from '../../clients/wire.ts';
import type { Claim, ClaimStatus, Holder, Store, Traits } from '../../contract/store.ts';
import type { StoreVerbs } from '../batch.ts';
import { garbled, letterOf, standingIn, statusOf } from '../status-lines.ts';
import { Wakes } from '../wakes.ts';
import { type Form, RECALL } from './forms.ts';
import { ScriptRunner, type ScriptRunnerParts } from './script-runner.ts';

export interface RedisStoreParts extends Omit<ScriptRunnerParts, 'settings'> {
  readonly form: Form;
  readonly namespace: string;
  /** What names of channels begin with, or `-` for none; default: one of the namespace. */
  readonly channels?: string;
  readonly maxWaiters: number;
  readonly trust: boolean;
}

/**
 * In a cluster, and under a hash tag, a slot may lose its record alone, and with it the greatest
 * `maxTtl`: one of fewer ms counts as this there.
 */
const CLUSTER_MS = 30_000;

/** Queues that one script looks at: the server does nothing else meanwhile, and some are long. */
const MOST_LOOKS = 32;

/** A third of the largest batch: its script takes the server as long as its replies take us. */
const PORTION = 32;

type RedisVerb = 'claim' | 'renew' | 'release';

/** What the script gets of a claim, in one argument. */
type WordsOf = (claim: Claim) => string;

type Replies = readonly RedisReply[];

export class RedisStore implements Store {
  readonly name: string;
  readonly traits: Traits;
  readonly lineage: string;
  readonly maxTtlMs: number;
  /** None where a WAIT follows each batch: the next would be carried out only after it. */
  readonly portion: number | undefined;
  /** In a cluster, the slot, by the key of its record. */
  readonly partOf: ((resource: string) => string) | undefined;
  readonly #parts: RedisStoreParts;
  readonly #wakes: Wakes;
  readonly #runner: ScriptRunner;
  /** The looks of one turn, each by the keys of its resource: one script for each slot. */
  readonly #look = together(
    (looks: readonly (readonly string[])[]) => this.#change(looks.flat(), 'inspect'),
    MOST_LOOKS,
    ([key = '']) => this.#parts.places.recordOf(key),
  );

  constructor(parts: RedisStoreParts) {
    const { form, link, namespace, places, replicas } = parts;
    this.#parts = parts;
    if (places.many) this.partOf = (name) => places.recordOf(places.keyOf(name));
    this.name = form.name;
    this.maxTtlMs = parts.maxTtlMs;
    this.portion = replicas === 0 ? PORTION : undefined;
    this.lineage = `${form.name}:${namespace}${places.tag}`;
    this.traits = { ...form.traits, hintsGrant: form.traits.hintsGrant && replicas === 0 };
    const { channels: wakePrefix = places.own('wake:') } = parts;
    const listen: MessageSource['listen'] = async (channel, received, resumed) => {
      const wake = (message?: string) => (message === undefined ? resumed() : received(message));
      await link.follow('', channel, wake, 'cluster');
    };
    this.#wakes = new Wakes({ listen }, wakePrefix, parts.hazards.unwoken);
    // 'w' if replicas are then asked to confirm, which they can only do for a write; 't' if this
    // program trusts. Of the words, the first is 'fresh' if the server knew no script of ours, or
    // 'known', or in a cluster 'slot' or the answer of lua/server.lua.
    const flags = `${replicas > 0 ? 'w' : '-'}${parts.trust ? 't' : '-'}`;
    const settings = (word: string, maxTtlMs: number): string =>
      `${flags}${maxTtlMs}/${link.database} ${word} ${parts.maxWaiters} ${wakePrefix}`;
    const maxTtlMs = Math.max(parts.maxTtlMs, places.inCluster ? CLUSTER_MS : 0);
    this.#runner = new ScriptRunner({ ...parts, maxTtlMs, settings });
  }

  claim(claims: readonly Claim[]): Promise<readonly ClaimStatus[]> {
    const wordsOf: WordsOf = (claim) => this.#terms(claim, claim.queue ? 'q' : 't');
    return this.#statuses('claim', claims, wordsOf);
  }

  claimAll(claims: readonly Claim[]): Promise<readonly ClaimStatus[]> {
    return this.#statuses('claim', claims, (claim) => this.#terms(claim, 'a'));
  }

  renew(claims: readonly Claim[]): Promise<readonly ClaimStatus[]> {
    return this.#statuses('renew', claims, ({ id, ttlMs }) => id + Math.ceil(ttlMs));
  }

  release(claims: readonly Claim[], after?: { readonly ms: number }): Promise<boolean[]> {
    const afterMs = Math.ceil(Math.max(0, after?.ms ?? 0));
    const { proves } = this.#parts.form;
    const wordsOf = ({ id, ttlMs, unanswered, secret }: Claim): string => {
      const ttl = Math.ceil(ttlMs);
      const shown = proves && secret !== undefined ? ` 0 ${secret}` : '';
      if (!unanswered && afterMs === 0) return `${id}-${ttl}${shown}`;
      return `${id}${unanswered ? 'u' : 'a'}${ttl} ${afterMs}`;
    };
    return this.#verb('release', claims, wordsOf).map((replies) => replies.map(isDone));
  }

  readonly inspect: StoreVerbs['inspect'] = async (resource) => {
    const lines: unknown = await this.#look(this.#parts.places.lookOf(resource));
    if (typeof lines === 'string' && lines.startsWith('e ')) throw refused(lines.slice(2));
    if (!Array.isArray(lines)) throw garbled(lines);
    const [, ms] = /^q (\d+)$/.exec(String(lines.at(-1))) ?? [];
    if (ms) lines.pop();
    const quarantineMs = ms ? Number(ms) : undefined;
    const standings = lines.map(standingIn);
    const members = (held: boolean) =>
      standings.filter((each) => each.held === held).map(({ member }) => member);
    const limits = standings.map(({ limit }) => limit);
    const limit = limits.length > 0 ? Math.min(...limits) : undefined;
    return { resource, limit, holders: members(true), waiters: members(false), quarantineMs };
  };

  readonly watch: StoreVerbs['watch'] = (claim, wake) => this.#wakes.watch(claim, wake);

  readonly downgrade: StoreVerbs['downgrade'] = async ({ resource, id, ttlMs }) =>
    statusOf(await this.#changeOne(resource, 'downgrade', id), ttlMs);

  readonly raise: StoreVerbs['raise'] = (claims, numbers) =>
    Promise.all(
      claims.map(async ({ resource, id, ttlMs }, i) =>
        statusOf(await this.#changeOne(resource, 'raise', id, String(numbers[i])), ttlMs),
      ),
    );

  readonly evict: StoreVerbs['evict'] = async (resource, number, { reason, now, waiting }) => {
    const when = waiting ? 'waiting' : now ? 'now' : 'later';
    return isDone(await this.#changeOne(resource, 'evict', String(number), reason, when));
  };

  readonly keep: StoreVerbs['keep'] = async (claim, { text, ms }) => {
    const { form, places } = this.#parts;
    const keys = [places.keyOf(claim.resource), places.keptOf(claim.resource)];
    const args = [claim.id, Math.ceil(Math.max(0, ms)).toFixed(0), text];
    const call = { script: form.keep, keys, args, spreadMs: this.#spreadMs([claim]) };
    const [kept = null] = await this.#runner.run(call);
    if (kept === 0 || kept === 1) return kept === 1;
    throw garbled(kept);
  };

  readonly recall: StoreVerbs['recall'] = async (resource) => {
    const call = { script: RECALL, keys: [this.#parts.places.keptOf(resource)], args: [] };
    const found = await this.#runner.run(call);
    const [text, leftMs] = found;
    if (found.length === 0) return undefined;
    if (typeof text !== 'string' || typeof leftMs !== 'number') throw garbled(found);
    return { text, leftMs };
  };

  readonly handOver: StoreVerbs['handOver'] = async (claim, { from, to }) => {
    const { form, places } = this.#parts;
    const { id, resource, ttlMs, holder } = claim;
    // Who gives it wants no more messages about it.
    const [how, tag] = id === to ? ['take', this.#wakes.tagOf(claim)] : ['give', '- -'];
    const args = ['handOver', from, to, how, `${Math.ceil(ttlMs)} ${tag} ${holderJson(holder)}`];
    const call = { script: form.change, keys: places.lookOf(resource), args };
    const [reply] = await this.#runner.run({ ...call, spreadMs: this.#spreadMs([claim]) });
    return this.#statusIn(claim, reply);
  };

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
        const names = keys.map((key) => places.nameOf(key));
        const fresh = names.filter((name) => seen.size < seen.add(name).size);
        const looks = fresh.map((name) => this.inspect(name).catch(unlooked));
        for (const queue of await Promise.all(looks)) {
          if (queue && queue.holders.length + queue.waiters.length > 0) yield queue.resource;
        }
        cursor = next;
      } while (cursor !== '0');
    }
  }

  close(): Promise<void> {
    return this.#parts.link.close();
  }

  #terms(claim: Claim, way: 'q' | 't' | 'a'): string {
    const { id, kind, permits, limit, ttlMs, holder } = claim;
    const what = `${letterOf(kind)} ${permits} ${limit} ${Math.ceil(ttlMs)}`;
    return `${id}${way}${what} ${this.#wakes.tagOf(claim)} ${holderJson(holder)}`;
  }

  #verb(verb: RedisVerb, claims: readonly Claim[], wordsOf: WordsOf): Answer<Replies> {
    // A name may have no key: that fails like a request, and throws nothing.
    return Answer.of<Replies>(() => {
      if (claims.length === 0) return [];
      const { form, places } = this.#parts;
      const keys: string[] = [];
      for (const claim of claims) for (const key of places.keysOf(claim)) keys.push(key);
      const spreadMs = verb === 'release' ? undefined : this.#spreadMs(claims);
      return this.#runner.run({ script: form[verb], keys, args: claims.map(wordsOf), spreadMs });
    });
  }

  #spreadMs(claims: readonly Claim[]): number | undefined {
    if (this.#parts.replicas === 0) return undefined;
    return Math.min(...claims.map(({ ttlMs }) => ttlMs)) / WAITS_PER_TTL;
  }

  #statuses(verb: RedisVerb, claims: readonly Claim[], wordsOf: WordsOf): Answer<ClaimStatus[]> {
    return this.#verb(verb, claims, wordsOf).map((replies) =>
      claims.map((claim, i) => this.#statusIn(claim, replies[i])),
    );
  }

  #statusIn(claim: Claim, reply: RedisReply | undefined): ClaimStatus {
    const status = statusOf(reply, claim.ttlMs);
    this.#wakes.saw(claim, status);
    return status;
  }

  #change(keys: readonly string[], ...args: readonly string[]): Promise<Replies> {
    return this.#runner.run({ script: this.#parts.form.change, keys, args });
  }

  async #changeOne(resource: string, ...args: readonly string[]): Promise<RedisReply> {
    const [answer = null] = await this.#change(this.#parts.places.lookOf(resource), ...args);
    return answer;
  }
}

let last: Holder | undefined;
let beginning = '';

/** The holder as JSON; all but `since` is kept, in which alone the claims of a lock differ. */
export function holderJson(holder: Holder): string {
  const { host, pid, label, mark, since } = holder;
  if (last?.host !== host || last.pid !== pid || last.label !== label || last.mark !== mark) {
    last = holder;
    beginning = JSON.stringify({ host, pid, label, mark }).slice(0, -1);
  }
  return `${beginning},"since":${since}}`;
}

function isDone(reply: RedisReply): boolean {
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
