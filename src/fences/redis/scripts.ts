/** Scripts of the fence, each sent by its hash once the server knows it. */
import { createHash } from 'node:crypto';
import { refusalCode } from '../../clients/redis/errors.ts';
import type { RedisLink, RedisReply } from '../../clients/redis/link.ts';
import check from './check.lua';

/** The arguments of a script. */
export interface ScriptCall {
  /** It runs on the server of this key. */
  readonly at: string;
  readonly keys: readonly string[];
  readonly args: readonly string[];
}

/** On one line, so that the server counts the caller's lines as the caller does. */
const CHECK = `${check
  .replace(/--.*$/gm, '')
  .split(/\s*\n\s*/)
  .join(' ')
  .trim()} `;

/** The script with the check before it, in one step. */
export function checked(text: string): string {
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
