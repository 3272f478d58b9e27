/** The reads and writes of a holder that has entered a fence in Redis, by scripts. */
import { createHash } from 'node:crypto';
import { isLockError, UsageError } from '../../base/errors.ts';
import { readOptions } from '../../base/options.ts';
import { show } from '../../base/show.ts';
import { refusalCode } from '../../clients/redis/errors.ts';
import type { RedisLink, RedisReply } from '../../clients/redis/link.ts';
import { slotOf } from '../../clients/redis/slots.ts';
import { StoreError } from '../../contract/errors.ts';
import type { FenceEntry } from '../fence.ts';
import checkScript from './check.lua';
import commandsScript from './commands.lua';

/** Text, or a number as text. */
export type RedisValue = string | number | bigint;

/** A command whose first word after the name is its only key. */
export type RedisCommand = readonly [name: string, key: string, ...rest: readonly RedisValue[]];

export type { RedisReply } from '../../clients/redis/link.ts';

/**
 * `write` sends commands, which may also read, one after another in one step. As in Redis's own
 * MULTI, the commands before one that fails are carried out; then the outcome is `unknown`. An
 * empty list only checks that the entry is still in force.
 *
 * Calls are carried out in the order in which they are made. A key that a cluster keeps in another
 * slot than the fence is a `UsageError`. After an unknown outcome, read through this entry: no
 * earlier request can take effect after that. A reader's entry only reads, without the check.
 */
export interface RedisEntry extends FenceEntry<readonly RedisCommand[], readonly RedisReply[]> {
  /**
   * A script of your own in place of the commands, which sees its own KEYS and ARGV. Both default
   * to none. If it returns an error, its earlier writes stay.
   */
  eval(
    script: string,
    given?: { readonly keys?: readonly string[]; readonly args?: readonly RedisValue[] },
  ): Promise<RedisReply>;
}

interface EntryTerms {
  readonly link: RedisLink;
  readonly key: string;
  readonly reads: boolean;
  /** The values that the check compares, besides the number of the request. */
  readonly check: readonly [entry: string, token: string];
  /** How long Redis keeps the fence after a write, in ms. */
  readonly keep: string;
  /** Why the entry is over. */
  refusal(): Promise<Error>;
}

export function entryOf(terms: EntryTerms): RedisEntry {
  const { link, key: at, reads, check, keep } = terms;
  let last: Promise<unknown> = Promise.resolve();
  let seq = 0;

  async function send(script: string, keys: readonly string[], args: readonly string[]) {
    if (reads) return run(link, script, { at, keys, args }, 'EVAL_RO');
    seq++;
    const call = { at, keys: [at, ...keys], args: [...check, String(seq), keep, ...args] };
    try {
      return await run(link, checked(script), call);
    } catch (error) {
      if (refusalCode(error) !== 'HOLDFAST_STALE') throw error;
      throw /HOLDFAST_STALE seq/.test(String(error)) ? overtaken() : await terms.refusal();
    }
  }

  /** Sends a request after the reply to the one before. */
  async function inTurn(
    script: string,
    keys: readonly string[],
    args: readonly RedisValue[],
  ): Promise<RedisReply> {
    const texts = args.map(textOf);
    for (const each of keys) checkKey(each, terms);
    const next = last.then(() => send(script, keys, texts));
    last = next.catch(() => {});
    return next;
  }

  return {
    async write(commands) {
      const args = commands.flatMap(([name, , ...rest]) => [rest.length + 1, name, ...rest]);
      const keys = commands.map(([, each]) => each);
      return (await inTurn(commandsScript, keys, args)) as readonly RedisReply[];
    },
    async eval(script, given = {}) {
      if (typeof script !== 'string') {
        throw new UsageError(`A script must be text, not ${show(script)}.`);
      }
      const { keys = [], args = [] } = readOptions(given, ['keys', 'args'], 'eval');
      return inTurn(script, keys, args).catch((error: unknown) => {
        throw ofScript(error);
      });
    },
  };
}

/** A script that returns an error may have written before; the server does not report it. */
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
  throw new UsageError(`A value must be text or a finite number, not ${show(value)}.`);
}

function checkKey(key: string, { link, key: fence }: EntryTerms): void {
  if (typeof key !== 'string' || !key.isWellFormed()) {
    throw new UsageError(`A key must be text, not ${show(key)}.`);
  }
  if (!link.cluster || slotOf(key) === slotOf(fence)) return;
  throw new UsageError(
    `The cluster keeps ${show(key)} in another slot than the fence ${show(fence)}. Give the lock ` +
      "and its data one {tag} in their names, or set the fence's option 'tag'.",
  );
}

function overtaken(): StoreError {
  const message = 'The server has already carried out this request, or a later one: read the data.';
  return new StoreError(message, { retryable: false, outcome: 'unknown' });
}

interface ScriptCall {
  /** It runs on the server of this key. */
  readonly at: string;
  readonly keys: readonly string[];
  readonly args: readonly string[];
}

/**
 * On one line, so that the server counts the caller's lines as the caller does. A comment would end
 * only with the script, but is not imported.
 */
const CHECK = checkScript.replaceAll('\n', ' ');

/** The script with the check before it, in one step. */
function checked(text: string): string {
  const [shebang = ''] = /^#!.*\n?/.exec(text) ?? [];
  const head = shebang.replace(/[^\n]$/, '$&\n');
  return `${head}${CHECK}${text.slice(shebang.length)}`;
}

/** With `EVAL_RO` the server refuses writes. A script that the server does not know has not run. */
export async function run(
  link: RedisLink,
  text: string,
  { at, keys, args }: ScriptCall,
  verb: 'EVAL' | 'EVAL_RO' = 'EVAL',
): Promise<RedisReply> {
  const rest = [String(keys.length), ...keys, ...args];
  const sha = createHash('sha1').update(text).digest('hex');
  try {
    return await link.send(at, [verb.replace('EVAL', 'EVALSHA'), sha, ...rest]);
  } catch (error) {
    if (refusalCode(error) !== 'NOSCRIPT') throw error;
    return link.send(at, [verb, text, ...rest]);
  }
}
