/** What a holder does once it has entered a fence in Redis. */
import { type Duration, parseDuration } from '../base/duration.ts';
import { isLockError, UsageError } from '../base/errors.ts';
import { readOptions } from '../base/options.ts';
import { show } from '../base/show.ts';
import { StoreError } from '../contract/errors.ts';
import { refusalCode } from '../stores/redis/errors.ts';
import type { Reply } from '../stores/redis/link.ts';
import { slotOf } from '../stores/redis/slots.ts';
import { COMMANDS, type FencedScripts } from './redis-scripts.ts';

/** Text, or a number as text. */
export type RedisValue = string | number | bigint;

/** A command whose first word after the name is its key, and whose others are none. */
export type RedisCommand = readonly [name: string, key: string, ...rest: readonly RedisValue[]];

/** As RESP2 has it: text, whole numbers below 2^53, and `null` where there is nothing. */
export type RedisReply = Reply;

/**
 * A hold's way to the data. Each call is one step with the check, and they are carried out in the
 * order in which they are called. Each rejects with
 *
 * - `StaleTokenError` if somebody has entered since: nothing was written;
 * - `StoreError`: if its `outcome` is `unknown`, a write may have happened. Read through this
 *   entry: what was on its way can no longer arrive then;
 * - `UsageError`, unsent, for a key that a cluster keeps in another slot than the fence.
 *
 * That of a reader only reads, without the check.
 */
export interface RedisEntry {
  get(key: string): Promise<string | null>;
  /** With `expire`, for so long. */
  set(key: string, value: RedisValue, options?: { readonly expire?: Duration }): Promise<void>;
  /** How many of them were there. */
  del(...keys: readonly string[]): Promise<number>;
  hset(key: string, fields: Readonly<Record<string, RedisValue>>): Promise<void>;
  /** The number that is there afterwards; by default one more. */
  incrby(key: string, by?: number | bigint): Promise<number>;
  /** Adds to these fields of a hash; the numbers that are there afterwards. */
  hincrby<F extends string>(
    key: string,
    by: Readonly<Record<F, number | bigint>>,
  ): Promise<Record<F, number>>;
  /**
   * Any commands in one step, one after another. As in Redis's own MULTI, what came before a
   * command that fails is done; then the outcome is `unknown`. None at all asks whether the entry
   * is still in force.
   */
  multi(commands: readonly RedisCommand[]): Promise<readonly RedisReply[]>;
  /**
   * A script of your own, which sees its own KEYS and ARGV. By default it has none. If it answers
   * an error, what it wrote before stays.
   */
  eval(
    script: string,
    given?: { readonly keys?: readonly string[]; readonly args?: readonly RedisValue[] },
  ): Promise<RedisReply>;
}

interface Terms {
  readonly scripts: FencedScripts;
  /** The fence's. */
  readonly key: string;
  readonly cluster: boolean;
  readonly reads: boolean;
  /** What the check compares, before the number of the request. */
  readonly args: readonly [entry: string, token: string];
  /** For how long the fence is kept after a write, in ms. */
  readonly keep: string;
  /** Why the entry is over. */
  refusal(): Promise<Error>;
}

export function entryOf(terms: Terms): RedisEntry {
  const { scripts, key, reads } = terms;
  let last: Promise<unknown> = Promise.resolve();
  let seq = 0;

  async function send(script: string, keys: readonly string[], args: readonly string[]) {
    if (reads) return scripts.reading(script, { at: key, keys, args });
    seq++;
    const check = [...terms.args, String(seq), terms.keep];
    try {
      return await scripts.fenced(script, {
        at: key,
        keys: [key, ...keys],
        args: [...check, ...args],
      });
    } catch (error) {
      if (refusalCode(error) !== 'HOLDFAST_STALE') throw error;
      throw /HOLDFAST_STALE seq/.test(String(error)) ? overtaken() : await terms.refusal();
    }
  }

  /** One after the other. */
  function run(
    script: string,
    keys: readonly string[],
    args: readonly RedisValue[],
  ): Promise<Reply> {
    const texts = args.map(textOf);
    for (const each of keys) checkKey(each, terms);
    const next = last.then(() => send(script, keys, texts));
    last = next.catch(() => {});
    return next;
  }

  async function multi(commands: readonly RedisCommand[]): Promise<readonly Reply[]> {
    const args = commands.flatMap(([name, , ...rest]) => [rest.length + 1, name, ...rest]);
    const keys = commands.map(([, each]) => each);
    return (await run(COMMANDS, keys, args)) as readonly Reply[];
  }

  return {
    multi,
    async eval(script, given = {}) {
      if (typeof script !== 'string') throw new UsageError(`No script: ${show(script)}.`);
      const { keys = [], args = [] } = readOptions(given, ['keys', 'args'], 'eval');
      return run(script, keys, args).catch((error: unknown) => {
        throw ofScript(error);
      });
    },
    async get(one) {
      const [value = null] = await multi([['GET', one]]);
      return value as string | null;
    },
    async set(one, value, options = {}) {
      const { expire } = readOptions(options, ['expire'], 'set');
      const px = expire === undefined ? [] : ['PX', parseDuration(expire, 'expire')];
      await multi([['SET', one, value, ...px]]);
    },
    async del(...keys) {
      const gone = await multi(keys.map((each) => ['DEL', each] as const));
      return gone.filter((one) => one === 1).length;
    },
    async hset(one, fields) {
      const some = chunksOf(Object.entries(fields));
      await multi(some.map((each) => ['HSET', one, ...each.flat()] as const));
    },
    async incrby(one, by = 1) {
      const [value] = await multi([['INCRBY', one, by]]);
      return value as number;
    },
    async hincrby(one, by) {
      const fields = Object.entries<number | bigint>(by);
      const values = await multi(fields.map(([field, add]) => ['HINCRBY', one, field, add]));
      return Object.fromEntries(fields.map(([field], n) => [field, values[n]])) as never;
    },
  };
}

/** So many fields at a time: a script can give a command 8,000 words. */
const MOST_FIELDS = 1000;

function chunksOf<T>(all: readonly T[]): T[][] {
  const count = Math.ceil(all.length / MOST_FIELDS);
  return Array.from({ length: count }, (_, n) => all.slice(n * MOST_FIELDS, (n + 1) * MOST_FIELDS));
}

/** A script that answers an error may have written before it, which the server does not tell. */
function ofScript(error: unknown): unknown {
  if (!isLockError(error, 'STORE') || refusalCode(error) === undefined) return error;
  const { message, cause, retryable, outcome } = error as StoreError;
  if (retryable || outcome === 'unknown') return error;
  return new StoreError(message, { cause, retryable, outcome: 'unknown' });
}

function textOf(value: RedisValue): string {
  if (typeof value === 'string' ? value.isWellFormed() : typeof value === 'bigint') {
    return String(value);
  }
  if (typeof value === 'number' && Number.isFinite(value)) return String(value);
  throw new UsageError(`Redis is sent text and finite numbers here, not ${show(value)}.`);
}

/** @throws UsageError */
function checkKey(key: string, { cluster, key: fence }: Terms): void {
  if (typeof key !== 'string' || !key.isWellFormed()) {
    throw new UsageError(`A key must be text, not ${show(key)}.`);
  }
  if (!cluster || slotOf(key) === slotOf(fence)) return;
  throw new UsageError(
    `The cluster keeps ${show(key)} in another slot than the fence ${show(fence)}. Give the lock ` +
      "and its data one {tag} in their names, or tell it to the fence: the option 'tag'.",
  );
}

function overtaken(): StoreError {
  const message = 'The request was carried out before, or a later one was: read what is there.';
  return new StoreError(message, { retryable: false, outcome: 'unknown' });
}
