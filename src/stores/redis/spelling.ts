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
import { permanentFailure } from '../../contract/errors.ts';

/** From this age on, in ms, what was seen is looked at again, while requests go on. */
const OLD_MS = 5000;

/** Requests wait for a look that is due for this long. */
const DUE_MS = 10_000;

/** Longest look, in ms, for a program that has seen the key before: others must not wait for it. */
const LOOK_MS = 1000;

/** What a request must wait for, if anything; it rejects with a StoreError. */
export type SpellingCheck = () => Promise<void> | undefined;

/** @param tag the hash tag of all keys, in braces; empty in the slots of a cluster. */
export function spellingCheck(link: RedisLink, namespace: string, tag: string): SpellingCheck {
  const key = `${namespace}:!record`;
  const own = `0${tag}`;
  let lookedAt = Number.NEGATIVE_INFINITY;

  /** What the key says, once it says something. */
  async function ask(): Promise<string> {
    const found = await link.send(key, ['GET', key]);
    if (found !== null) return String(found);
    const before = await link.send(key, ['SET', key, own, 'NX', 'GET']);
    return before === null ? own : String(before);
  }

  /** An answer that no call waits for counts as well. */
  async function askLate(): Promise<string> {
    const found = await ask();
    if (found !== own) lookedAt = Number.NEGATIVE_INFINITY;
    return found;
  }

  const look = singleFlight(async () => {
    const at = performance.now();
    const first = lookedAt === Number.NEGATIVE_INFINITY;
    const brief = () => limited(LOOK_MS, [], (signal) => abortable(signal, askLate()));
    const found = await (first ? ask() : brief().catch(() => own));
    lookedAt = found === own ? at : Number.NEGATIVE_INFINITY;
    if (found !== own) throw permanentFailure(differ(key, found, own));
  });

  return () => {
    const age = performance.now() - lookedAt;
    if (age < OLD_MS) return undefined;
    const looking = look();
    if (age >= DUE_MS) return looking;
    // The next to ask is told.
    looking.catch(() => {});
    return undefined;
  };
}

function differ(key: string, found: string, own: string): string {
  return (
    `The key ${key} says that other programs have the locks of this namespace` +
    ` ${wordsOf(found)}, and this one has them ${wordsOf(own)}, so they would not exclude` +
    ' each other. Give all the same hashTag and the same kind of client, or other namespaces.' +
    ' If none of the others runs any more, delete that key.'
  );
}

function wordsOf(text: string): string {
  if (text === '0') return 'in the slots of a cluster';
  return text.startsWith('0{') ? `under the hash tag ${text.slice(1)}` : 'on one server';
}
