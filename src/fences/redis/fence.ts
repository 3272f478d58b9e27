/**
 * The fence where the guarded data is in Redis or Valkey.
 *
 * Invariant: a holder's write is carried out only if no holder has entered since it did, and no
 * later write of the same entry was carried out. It holds because each entry gets a number of its
 * own in the fence's key, and each write is a script that begins by comparing that number and the
 * request's own (check.lua): so a copy of a request, or one under way when its connection was given
 * up, comes too late. Entries follow each other in the order of their tokens (enter.lua). So no
 * older holder can change the data that a holder reads after it has entered. Requests of one entry
 * leave one after the other, because a redirect in a cluster could reorder them.
 * What would break it: a read before `enter`, or from a replica; a write without the check; data on
 * another server than the fence.
 * Why this is not a comparison of the lock's own key: docs/design/0079-fences.md.
 */
import { type Duration, parseDuration } from '../../base/duration.ts';
import { isLockError, UsageError } from '../../base/errors.ts';
import { readOptions } from '../../base/options.ts';
import { show } from '../../base/show.ts';
import { refuseKeyPrefix } from '../../clients/redis/check-client.ts';
import { linkOf, type RedisClient } from '../../clients/redis/client.ts';
import { refusalCode } from '../../clients/redis/errors.ts';
import type { RedisLink, RedisReply } from '../../clients/redis/link.ts';
import { slotOf, tagIn, tagOf } from '../../clients/redis/slots.ts';
import type { FencingToken } from '../../contract/token.ts';
import { type Fence, fenced, fenceOf } from '../fence.ts';
import { enteredSince, over, type SeenToken, stale } from '../rule.ts';
import enterScript from './enter.lua';
import { entryOf, type RedisEntry, run } from './entry.ts';

export interface RedisFenceOptions {
  /** The prefix of the keys of all fences; default `holdfast-fence:`. No braces. */
  readonly prefix?: string;
  /**
   * The hash tag of the data that this resource guards, the same in all programs: a cluster keeps
   * the fence beside the data. Default: the tag in the name of the resource, or that name itself.
   */
  readonly tag?: (resource: string) => string;
  /**
   * Redis forgets a fence after this long without an entry or write; default never. An old entry
   * never writes through a forgotten fence, but an old holder could still enter it: so choose
   * longer than any process may stand still. At least a minute.
   */
  readonly keep?: Duration;
}

/** Read the guarded data from the primary. */
export interface RedisFence extends Fence<RedisClient, Promise<RedisEntry>>, AsyncDisposable {
  /** The key of this resource's fence. */
  keyOf(resource: string): string;
  /** Closes its own connections, never the clients. */
  close(): Promise<void>;
}

const SHORTEST_KEEP_MS = 60_000;

/**
 * A fence in the Redis that holds the guarded data. It opens a connection of its own with the
 * settings of the client, to each primary in a cluster, when it is first needed.
 *
 * @example
 * import { redisFence } from 'holdfast/fence';
 *
 * const fence = redisFence();
 * await locks.mutex('stock').run(async (lease) => {
 *   const entry = await fence.enter(redis, lease);
 *   const left = Number(await redis.get('stock'));
 *   await entry.write([['SET', 'stock', left - 1]]);
 * });
 *
 * @throws UsageError
 */
export function redisFence(options: RedisFenceOptions = {}): RedisFence {
  const given = readOptions(options, ['prefix', 'tag', 'keep'], 'redisFence');
  const keyOf = keysWith(given);
  const keep = String(readKeep(given.keep));
  const links = new Map<RedisClient, RedisLink>();
  const linkTo = (client: RedisClient): RedisLink => {
    const known = links.get(client);
    if (known) return known;
    refuseKeyPrefix(client);
    const link = linkOf(client);
    links.set(client, link);
    return link;
  };
  const fence = fenceOf<RedisClient, Promise<RedisEntry>>(async (verb, client, lease) => {
    const token = fenced(lease);
    const key = keyOf(token.resource);
    const link = linkTo(client);
    const reads = token.kind === 'read';
    const how = verb === 'adopt' ? 'a' : reads ? 'r' : 'w';
    // As many digits as the largest token: texts of equal length compare as their numbers do.
    const number = String(token.token).padStart(19, '0');
    const args = [token.lineage, number, how, keep];
    const [state, ...rest] = await enter(link, key, args);
    if (state === 0) throw stale(token, seenIn(rest));
    const refusal = (): Promise<Error> => whyOver(link, key, token);
    return entryOf({ link, key, reads, check: [String(rest[0]), number], keep, refusal });
  });
  const close = async (): Promise<void> => {
    await Promise.all([...links.values()].map((link) => link.close()));
  };
  return { ...fence, keyOf, close, [Symbol.asyncDispose]: close };
}

/** @throws UsageError */
function keysWith({ prefix = 'holdfast-fence:', tag }: RedisFenceOptions): RedisFence['keyOf'] {
  if (typeof prefix !== 'string' || !prefix.isWellFormed() || !/^[^{}]+$/.test(prefix)) {
    throw new UsageError(`prefix must be text without braces, not ${show(prefix)}.`);
  }
  if (tag !== undefined && typeof tag !== 'function') {
    throw new UsageError(`tag must be a function, not ${show(tag)}.`);
  }
  return (resource) => `${prefix}{${tag ? checkTag(tag(resource)) : ownTag(resource)}}${resource}`;
}

/** A tag ends at the first brace. */
function checkTag(tag: unknown): string {
  if (typeof tag === 'string' && tag.isWellFormed() && /^[^}]+$/s.test(tag)) return tag;
  throw new UsageError(`tag must return text without a closing brace, not ${show(tag)}.`);
}

/** A key with this tag is in the slot of the key that has the resource's name. */
function ownTag(resource: string): string {
  const tag = tagIn(resource) ?? resource;
  return tag.includes('}') ? tagOf(slotOf(resource)) : tag;
}

function readKeep(keep: Duration | undefined): number {
  if (keep === undefined) return 0;
  const ms = parseDuration(keep, 'keep');
  if (ms >= SHORTEST_KEEP_MS) return ms;
  throw new UsageError(`keep must be at least a minute, and better days, not ${show(keep)}.`);
}

async function enter(
  link: RedisLink,
  key: string,
  args: readonly string[],
): Promise<readonly RedisReply[]> {
  const notAFence = `The key ${show(key)} is not a fence: something else has written it.`;
  try {
    const call = { at: key, keys: [key], args };
    const reply = (await run(link, enterScript, call)) as readonly RedisReply[];
    if (reply[0] !== 2) return reply;
  } catch (error) {
    if (refusalCode(error) !== 'WRONGTYPE') throw error;
  }
  throw new UsageError(notAFence);
}

function seenIn([lineage, token, floor]: readonly RedisReply[]): SeenToken {
  return { lineage: String(lineage), token: BigInt(String(token)), floor: BigInt(String(floor)) };
}

/** Why an entry is over, as far as the fence still shows it. */
async function whyOver(link: RedisLink, key: string, mine: FencingToken): Promise<Error> {
  const { lineage, token } = mine;
  let reply: readonly RedisReply[];
  try {
    const look = ['HMGET', key, 'lineage', 'token', 'floor'];
    reply = (await link.send(key, look)) as readonly RedisReply[];
  } catch (error) {
    if (!isLockError(error, 'STORE')) throw error;
    return over(mine);
  }
  if (reply[0] === null) return over(mine, 0n, 'The key of the fence was deleted.');
  const seen = seenIn(reply);
  const older = mine.kind !== 'read' && seen.lineage === lineage && seen.token < token;
  if (!older || seen.floor > token) return enteredSince(mine, seen);
  return over(mine, seen.token, 'The server has lost the entry in a fail-over: enter again.');
}
