/**
 * Runs scripts where their keys are.
 *
 * A script that the server does not know has not run, so it may be loaded and sent again; nor has
 * one that first needs to know about the server of its slot. This file sends nothing else twice.
 * Where replicas must have the writes of a script, WAIT follows it on the same connection: on
 * another one it would count no writes, and always succeed.
 */

import { Answer } from '../../base/answer.ts';
import { systemClock } from '../../base/clock.ts';
import { isRefusal, refusalCode, refused } from '../../clients/redis/errors.ts';
import type { RedisLink, RedisReply } from '../../clients/redis/link.ts';
import { StoreError } from '../../contract/errors.ts';
import { garbled } from '../status-lines.ts';
import { clockWatch } from './clock-watch.ts';
import { LAST_LOSS, type Script } from './forms.ts';
import type { Hazards } from './hazards.ts';
import type { Places } from './places.ts';
import type { SpellingCheck } from './spelling.ts';

export interface ScriptRunnerParts {
  readonly link: RedisLink;
  readonly places: Places;
  /** They get what the replies show. */
  readonly hazards: Hazards;
  /** Where programs with other keys may use the same namespace. */
  readonly spelling?: SpellingCheck | undefined;
  /** The longest ttl that counts on the server. */
  readonly maxTtlMs: number;
  /** How many of them must have what a script wrote. */
  readonly replicas: number;
  /** The settings of a script (redis-store.ts), with one word on what is known of the server. */
  readonly settings: (word: string, maxTtlMs: number) => string;
}

export interface ScriptRun {
  readonly script: Script;
  readonly keys: readonly string[];
  readonly args: readonly string[];
  /** Within what time the replicas must have what it wrote; default: none need to. */
  readonly spreadMs?: number | undefined;
}

export class ScriptRunner {
  readonly #parts: ScriptRunnerParts;
  readonly #clock = systemClock();
  readonly #sawClock: ReturnType<typeof clockWatch>;
  #maxTtlMs = 0;
  /** The settings for a server that knows our script: without a record, it has lost that. */
  #known = '';
  /** The settings for one that did not know it: without a record, it may be new. */
  #fresh = '';

  constructor(parts: ScriptRunnerParts) {
    this.#parts = parts;
    this.#sawClock = clockWatch(this.#clock, parts.hazards.clockJumped);
    this.#setMaxTtl(parts.maxTtlMs);
  }

  #setMaxTtl(ms: number): void {
    const { places, settings } = this.#parts;
    this.#maxTtlMs = ms;
    // In a cluster another slot may have made the script known.
    this.#known = settings(places.many ? 'slot' : 'known', ms);
    this.#fresh = places.inCluster ? this.#known : settings('fresh', ms);
  }

  /**
   * What the script returns for each of these keys, which are of one slot.
   * @throws StoreError, with an unknown outcome if too few replicas have it.
   */
  run(call: ScriptRun): Answer<readonly RedisReply[]> {
    return Answer.of<void>(() => this.#parts.spelling?.()).chain<readonly RedisReply[]>(() => {
      const sentAt = this.#clock.now();
      return Answer.from(this.#send(call, this.#known))
        .or((error) => this.#again(call, error))
        .map((reply) => this.#repliesIn(call, reply, sentAt));
    });
  }

  /** A refused script has done nothing, so it may be sent once more. */
  async #again(call: ScriptRun, error: unknown): Promise<RedisReply> {
    let refusal = error;
    if (refusalCode(refusal) === 'NOSCRIPT') {
      const { script, keys } = call;
      await this.#parts.link.send(keys[0] as string, ['SCRIPT', 'LOAD', script.text]);
      try {
        return await this.#send(call, this.#fresh);
      } catch (another) {
        refusal = another;
      }
    }
    if (refusalCode(refusal) !== 'UNSETTLED') throw refusal;
    return this.#send(call, this.#parts.settings(await this.#serverOf(call), this.#maxTtlMs));
  }

  /** Asks when the server of this slot may have lost something (lua/server.lua). */
  async #serverOf({ keys }: ScriptRun): Promise<string> {
    const { link, places } = this.#parts;
    const record = places.serverRecordOf(await link.lowestSlot(keys[0] as string));
    const ask = () => link.send(record, ['EVALSHA', LAST_LOSS.sha, '1', record, this.#known]);
    const reply = await ask().catch(async (error) => {
      if (refusalCode(error) !== 'NOSCRIPT') throw error;
      await link.send(record, ['SCRIPT', 'LOAD', LAST_LOSS.text]);
      return ask();
    });
    const said = Array.isArray(reply) ? reply[1] : undefined;
    if (typeof said !== 'string') throw garbled(reply);
    return said;
  }

  #send({ script, keys, args, spreadMs }: ScriptRun, settings: string): Promise<RedisReply> {
    const { link, places } = this.#parts;
    const key = keys[0] as string;
    const command = ['evalsha', script.sha, String(keys.length + 1), places.recordOf(key)];
    // Quicker than `concat`, which shows in profiles of short batches.
    for (const each of keys) command.push(each);
    command.push(settings);
    for (const each of args) command.push(each);
    if (spreadMs === undefined) return link.send(key, command);
    return this.#withWait(key, command, spreadMs);
  }

  #repliesIn({ keys }: ScriptRun, reply: RedisReply, sentAt: number): readonly RedisReply[] {
    if (!Array.isArray(reply)) throw garbled(reply);
    const [now, maxTtl] = stampOf(reply[0]) ?? [];
    if (now === undefined) throw garbled(reply);
    const { places, hazards } = this.#parts;
    this.#sawClock(places.recordOf(keys[0] as string), now, sentAt);
    if (maxTtl !== undefined && maxTtl > this.#maxTtlMs) {
      hazards.exceeded(maxTtl);
      // So that it counts after a flush as well, which takes the record.
      this.#setMaxTtl(maxTtl);
    }
    return reply.slice(1);
  }

  /** The reply of the command, once enough replicas have what it wrote. */
  async #withWait(key: string, command: readonly string[], ms: number): Promise<RedisReply> {
    const { link, replicas } = this.#parts;
    const wait = ['WAIT', String(replicas), Math.ceil(ms).toFixed(0)];
    const [reply = null, reached = null] = await link.sendAll(key, [command, wait]);
    for (const answer of [reply, reached]) if (isRefusal(answer)) throw refused(answer.refusal);
    if (typeof reached === 'number' && reached >= replicas) return reply as RedisReply;
    throw new StoreError(`Only ${reached} of ${replicas} replicas confirmed the write in time.`, {
      retryable: true,
      outcome: 'unknown',
    });
  }
}

/** The server's time, and another program's greater `maxTtl`; undefined if it is neither. */
function stampOf(first: RedisReply | undefined): readonly number[] | undefined {
  if (typeof first === 'number') return Number.isInteger(first) && first >= 0 ? [first] : undefined;
  if (typeof first !== 'string' || !/^\d+( \d+)?$/.test(first)) return undefined;
  return first.split(' ').map(Number);
}
