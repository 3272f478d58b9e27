/**
 * Scripts of the fence, and those of the caller behind the check, each sent by its name once the
 * server knows it.
 */
import { createHash } from 'node:crypto';
import { refusalCode } from '../stores/redis/errors.ts';
import type { Link, Reply } from '../stores/redis/link.ts';
import check from './lua/check.lua';
import commands from './lua/commands.lua';
import enter from './lua/enter.lua';

/** What a script is given. */
export interface ScriptCall {
  /** Where it runs: on the server of this key. */
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

export class FencedScripts {
  readonly #link: Link;

  constructor(link: Link) {
    this.#link = link;
  }

  enter(key: string, args: readonly string[]): Promise<Reply> {
    return this.#run('EVAL', enter, { at: key, keys: [key], args });
  }

  /** The fence's key comes first, and before the arguments those of the check. */
  fenced(text: string, call: ScriptCall): Promise<Reply> {
    const [shebang = ''] = /^#!.*\n?/.exec(text) ?? [];
    const head = shebang.replace(/[^\n]$/, '$&\n');
    return this.#run('EVAL', `${head}${CHECK}${text.slice(shebang.length)}`, call);
  }

  /** Without the check; the server lets it write nothing. */
  reading(text: string, call: ScriptCall): Promise<Reply> {
    return this.#run('EVAL_RO', text, call);
  }

  /** A script that the server does not know has not run. */
  async #run(verb: 'EVAL' | 'EVAL_RO', text: string, call: ScriptCall): Promise<Reply> {
    const { at, keys, args } = call;
    const rest = [String(keys.length), ...keys, ...args];
    const sha = createHash('sha1').update(text).digest('hex');
    try {
      return await this.#link.send(at, [verb.replace('EVAL', 'EVALSHA'), sha, ...rest]);
    } catch (error) {
      if (refusalCode(error) !== 'NOSCRIPT') throw error;
      return this.#link.send(at, [verb, text, ...rest]);
    }
  }
}

/** Runs commands, of which each key is the first word after the name. */
export const COMMANDS: string = commands;
