/**
 * Whether all programs of a namespace have the same keys: on one server, in the slots of a cluster,
 * or under one hash tag. Programs with different ones would not exclude each other.
 *
 * Invariant: a program sends nothing unless it saw within the last 10 s that the namespace has its
 * own keys. One key says which: on one server it is the record, at which every script looks
 * (lua/record.lua); otherwise a short text, which the first program writes. A flush takes that text
 * and the records. Then the first to come writes it anew, and waits for as long as leases may live;
 * the others wait as well, since their records are gone, and meanwhile see it and stop.
 * What breaks it: the key alone is lost, so that the others do not wait, and they have a ttl of
 * more than 20 s; they cannot reach its server, and the first can; or after a flush of one server
 * the first has no tag and a smaller maxTtl.
 */
import { singleFlight } from '../../base/single-flight.ts';
import { abortable, limited } from '../../clients/abortable.ts';
import type { RedisLink } from '../../clients/redis/link.ts';
import { permanentFailure, type StoreError } from '../../contract/errors.ts';

/** From this age on, in ms, what was seen is looked at again, while requests go on. */
const OLD_MS = 5000;

/** Requests wait for a look that is due for this long. */
const DUE_MS = 10_000;

/** Longest look, in ms, for a program that has seen the key before: others must not wait for it. */
const LOOK_MS = 1000;

export class Spelling {
  readonly #link: RedisLink;
  readonly #key: string;
  readonly #own: string;
  readonly #looking = singleFlight(() => this.#look());
  #lookedAt = Number.NEGATIVE_INFINITY;

  /** @param tag the hash tag of all keys, in braces; empty in the slots of a cluster. */
  constructor(link: RedisLink, namespace: string, tag: string) {
    this.#link = link;
    this.#key = `${namespace}:!record`;
    this.#own = `0${tag}`;
  }

  /** What a request must wait for, if anything. @throws StoreError */
  check(): Promise<void> | undefined {
    const age = performance.now() - this.#lookedAt;
    if (age < OLD_MS) return undefined;
    const looking = this.#looking();
    if (age >= DUE_MS) return looking;
    // Whoever asks next is told.
    looking.catch(() => {});
    return undefined;
  }

  async #look(): Promise<void> {
    const at = performance.now();
    const first = this.#lookedAt === Number.NEGATIVE_INFINITY;
    const brief = () => limited(LOOK_MS, [], (signal) => abortable(signal, this.#late()));
    const found = await (first ? this.#found() : brief().catch(() => this.#own));
    if (found === this.#own) {
      this.#lookedAt = at;
      return;
    }
    this.#lookedAt = Number.NEGATIVE_INFINITY;
    throw this.#another(found);
  }

  /** An answer that comes when nobody waits for it counts as well. */
  async #late(): Promise<string> {
    const found = await this.#found();
    if (found !== this.#own) this.#lookedAt = Number.NEGATIVE_INFINITY;
    return found;
  }

  /** What the key says, once it says something. */
  async #found(): Promise<string> {
    const key = this.#key;
    const found = await this.#link.send(key, ['GET', key]);
    if (found !== null) return String(found);
    const before = await this.#link.send(key, ['SET', key, this.#own, 'NX', 'GET']);
    return before === null ? this.#own : String(before);
  }

  #another(found: string): StoreError {
    const message =
      `The key ${this.#key} says that other programs have the locks of this namespace` +
      ` ${wordsOf(found)}, and this one has them ${wordsOf(this.#own)}, so they would not exclude` +
      ' each other. Give all the same hashTag and the same kind of client, or other namespaces.' +
      ' If none of the others runs any more, delete that key.';
    return permanentFailure(message);
  }
}

function wordsOf(text: string): string {
  if (text === '0') return 'in the slots of a cluster';
  return text.startsWith('0{') ? `under the hash tag ${text.slice(1)}` : 'on one server';
}
