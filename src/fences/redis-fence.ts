/**
 * The fence where the guarded data is in Redis or Valkey.
 *
 * Invariant: a write of a holder is carried out only if nobody has entered since that holder did,
 * and no later write of the same entry was. It holds because each entry gets a number of its own in
 * the fence's key, and each write is a script that begins with a comparison of it (lua/check.lua),
 * and with one of the request's own number: so a copy of a request, or one that was on its way when
 * its connection was given up, finds that it is too late. Entries follow each other in the order of
 * their tokens (lua/enter.lua). So whoever has entered reads what no older holder can change.
 * Requests of one entry leave one after the other: a server of a cluster that sends one elsewhere
 * would else turn their order.
 * What would break it: a read before `enter`, or from a replica; a write without the check; data on
 * another server than the fence.
 * Why this is not a comparison of the lock's own key: docs/design/0070-redis-fence.md.
 */
import { type Duration, parseDuration } from '../base/duration.ts';
import { isLockError, UsageError } from '../base/errors.ts';
import { readOptions } from '../base/options.ts';
import { show } from '../base/show.ts';
import type { FencingToken } from '../contract/token.ts';
import { linkOf, type RedisClient } from '../stores/redis/client.ts';
import { refusalCode } from '../stores/redis/errors.ts';
import type { Link, Reply } from '../stores/redis/link.ts';
import { slotOf, tagOf } from '../stores/redis/slots.ts';
import { checkKind, type EnterToken, readLease, stale } from './entering.ts';
import { StaleTokenError } from './errors.ts';
import { entryOf, type RedisEntry } from './redis-entry.ts';
import { FencedScripts } from './redis-scripts.ts';

export interface RedisFenceOptions {
  /** What the keys of all fences begin with; default `holdfast-fence:`. No braces. */
  readonly prefix?: string;
  /**
   * The hash tag of the data that this resource guards, the same in all programs: a cluster keeps
   * the fence with it. Default: the tag in the name of the resource, or that name itself.
   */
  readonly tag?: (resource: string) => string;
  /**
   * A fence that nobody has entered or written through for so long is forgotten; default never. An
   * old entry never writes through a fence that is gone, but a holder that has not entered yet
   * could still enter: so longer than any process may stand still. At least a minute.
   */
  readonly keep?: Duration;
}

export interface RedisFence extends AsyncDisposable {
  /**
   * Raises the fence to this token. Call it before anything is read that the lock guards, and read
   * from the primary.
   * @throws StaleTokenError if a newer holder was here.
   * @throws UsageError, UnsupportedError for permits, StoreError.
   */
  enter(lease: EnterToken): Promise<RedisEntry>;
  /**
   * Makes the fence follow this lease's lineage from now on, whatever it has seen. An operator's
   * act, after locks have moved to another store; everybody else must be stopped.
   */
  adopt(lease: EnterToken): Promise<void>;
  /** The key of this resource's fence. */
  keyOf(resource: string): string;
  /** Closes its own connections, never the client. */
  close(): Promise<void>;
}

const SHORTEST_KEEP_MS = 60_000;

/**
 * A fence in the Redis that holds the guarded data. It takes a connection of its own with the
 * settings of this client, to each primary in a cluster; it is made when it is first needed.
 *
 * @example
 * import { redisFence } from 'holdfast/fence';
 *
 * const fence = redisFence(redis);
 * await locks.mutex('stock').run(async (lease) => {
 *   const entry = await fence.enter(lease);
 *   const left = Number(await redis.get('stock'));
 *   await entry.set('stock', left - 1);
 * });
 *
 * @throws UsageError
 */
export function redisFence(client: RedisClient, options: RedisFenceOptions = {}): RedisFence {
  const given = readOptions(options, ['prefix', 'tag', 'keep'], 'redisFence');
  const keyOf = keysWith(given);
  const keepMs = readKeep(given.keep);
  const link = linkOf(client);
  const scripts = new FencedScripts(link);

  async function raise(token: FencingToken, how: 'a' | 'r' | 'w'): Promise<string> {
    const { resource, lineage, token: number } = token;
    const key = keyOf(resource);
    const args = [lineage, digits(number), how, String(keepMs)];
    const [state, ...rest] = await entered(scripts.enter(key, args), key);
    if (state === 2) throw notAFence(key);
    if (state === 1) return String(rest[0]);
    throw stale(token, seenOf(rest));
  }

  return {
    async enter(lease) {
      const token = readLease(lease);
      checkKind(token);
      const key = keyOf(token.resource);
      const reads = token.kind === 'read';
      const entry = await raise(token, reads ? 'r' : 'w');
      return entryOf({
        ...{ scripts, key, reads, cluster: link.cluster },
        args: [entry, digits(token.token)],
        keep: String(keepMs),
        refusal: () => refusal(link, key, token),
      });
    },
    async adopt(lease) {
      await raise(readLease(lease), 'a');
    },
    keyOf,
    close: () => link.close(),
    [Symbol.asyncDispose]: () => link.close(),
  };
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
  throw new UsageError(`tag must answer text without a closing brace, not ${show(tag)}.`);
}

/** A key with this tag is in the slot of a key that is called like the resource. */
function ownTag(resource: string): string {
  const open = resource.indexOf('{');
  const close = open === -1 ? -1 : resource.indexOf('}', open + 1);
  const tag = close > open + 1 ? resource.slice(open + 1, close) : resource;
  return tag.includes('}') ? tagOf(slotOf(resource)) : tag;
}

function readKeep(keep: Duration | undefined): number {
  if (keep === undefined) return 0;
  const ms = parseDuration(keep, 'keep');
  if (ms >= SHORTEST_KEEP_MS) return ms;
  throw new UsageError(`keep must be a minute at least, and better days, not ${show(keep)}.`);
}

/** As long as the largest token: texts of one length compare as their numbers do. */
function digits(token: bigint): string {
  return String(token).padStart(19, '0');
}

async function entered(reply: Promise<Reply>, key: string): Promise<readonly Reply[]> {
  try {
    return (await reply) as readonly Reply[];
  } catch (error) {
    throw refusalCode(error) === 'WRONGTYPE' ? notAFence(key) : error;
  }
}

function notAFence(key: string): UsageError {
  return new UsageError(`The key ${show(key)} is not a fence: something else has written it.`);
}

function seenOf([lineage, token, floor]: readonly Reply[]): Parameters<typeof stale>[1] {
  const { 0: highest = 0n, 1: lowest = 0n } = [token, floor].map((text) => BigInt(String(text)));
  return { lineage: String(lineage), token: highest, floor: lowest };
}

/** Why an entry is over, as far as the fence still tells. */
async function refusal(link: Link, key: string, mine: FencingToken): Promise<Error> {
  const { resource, lineage, token } = mine;
  const ended = (seen: bigint, detail: string): Error =>
    new StaleTokenError(resource, token, seen, ` ${detail}`);
  let reply: readonly Reply[];
  try {
    const look = ['HMGET', key, 'lineage', 'token', 'floor'];
    reply = (await link.send(key, look)) as readonly Reply[];
  } catch (error) {
    if (!isLockError(error, 'STORE')) throw error;
    return ended(token, 'Somebody has entered since.');
  }
  if (reply[0] === null) return ended(0n, 'The key of the fence was deleted.');
  const seen = seenOf(reply);
  if (seen.lineage !== lineage || seen.floor > token || seen.token > token) {
    return stale(mine, seen);
  }
  const forgotten = mine.kind !== 'read' && seen.token < token;
  const again = 'It has been entered anew since.';
  const lost = 'The server has forgotten the entry, after a fail-over or a restart: enter anew.';
  return ended(seen.token, forgotten ? lost : again);
}
