/** A verb, and its arguments: they are read, and unknown ones refused. */
import { type ParseArgsConfig, parseArgs } from 'node:util';
import { type Duration, parseDuration } from '../base/duration.ts';
import { checkName } from '../base/names.ts';
import { nearest } from '../base/nearest.ts';
import { quote } from './output.ts';
import { ExitError, STATUS } from './process/exit-status.ts';

export type Flags = NonNullable<ParseArgsConfig['options']>;

export const ALONE = { type: 'boolean' } as const;
export const VALUE = { type: 'string' } as const;
export const COMMON: Flags = { store: VALUE, json: ALONE, help: { ...ALONE, short: 'h' } };

export class Arguments {
  readonly words: string[] = [];
  /** The words behind `--`, for verbs that take a command; undefined without one. */
  readonly command: readonly string[] | undefined;
  readonly #values = new Map<string, string>();

  /** For verbs without a command, arguments after `--` are words, whatever they begin with. */
  constructor(args: readonly string[], flags: Flags, takesCommand = false) {
    // Not `strict`, which suggests no nearest flag and accepts a flag that is given twice.
    const options = { args, options: flags, strict: false, tokens: true } as const;
    for (const token of parseArgs(options).tokens) {
      if (token.kind === 'positional') this.words.push(token.value);
      else if (token.kind === 'option') {
        const { name, value = '', inlineValue } = token;
        const flag = dashed(name);
        if (!Object.hasOwn(flags, name)) throw unknown(args[token.index] as string, flags);
        if (this.has(name)) throw misuse(`${flag} is given twice`);
        const alone = flags[name]?.type === 'boolean';
        if (alone && inlineValue) throw misuse(`${flag} takes no value`);
        if (!alone && !inlineValue && (token.value ?? '-').startsWith('-')) {
          throw misuse(`${flag} needs a value`);
        }
        this.#values.set(name, value);
      } else if (takesCommand) {
        this.command = args.slice(token.index + 1);
        break;
      }
    }
  }

  has(flag: string): boolean {
    return this.#values.has(flag);
  }

  text(flag: string): string | undefined {
    return this.#values.get(flag);
  }

  /** Whole milliseconds. */
  duration(flag: string): number | undefined {
    const text = this.#values.get(flag);
    if (text === undefined) return undefined;
    try {
      return parseDuration(text as Duration, flag);
    } catch (cause) {
      const near = /^\d+(\.\d+)?$/.test(text) ? `; did you mean ${text}s?` : '';
      const good = `a duration such as 500ms, 30s, 5m or 2h, at most 24d`;
      throw misuse(`${dashed(flag)} takes ${good}, not ${quote(text)}${near}`, cause);
    }
  }

  whole(flag: string, least: number, most: number): number | undefined {
    const text = this.#values.get(flag);
    if (text === undefined) return undefined;
    const number = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (number >= least && number <= most) return number;
    const good = `a whole number from ${least} to ${most}`;
    throw misuse(`${dashed(flag)} takes ${good}, not ${quote(text)}`);
  }

  /** The first of at most so many words; undefined without one. */
  atMost(count: 0 | 1, advice = ''): string | undefined {
    const extra = this.words[count];
    if (extra !== undefined) throw misuse(`${quote(extra)} is one word too many${advice}`);
    return this.words[0];
  }

  /** The name of a lock. @throws UsageError if it is malformed. */
  name(advice = ''): string {
    const word = this.atMost(1, advice);
    if (word === undefined) throw misuse('NAME is missing');
    return checkName(word);
  }
}

export interface CliVerb {
  readonly help: string;
  readonly flags: Flags;
  readonly takesCommand?: boolean;
  /** The only words that it takes, for completion. */
  readonly words?: readonly string[];
  /** Resolves with the exit status. */
  run(given: Arguments, all: ReadonlyMap<string, ListedVerb>): Promise<number>;
}

/** A verb in the table of all of them. */
export interface ListedVerb {
  /** Its name, and what comes behind it. */
  readonly use: string;
  readonly about: string;
  /** On demand: a command should not wait for code that it does not use. */
  readonly load: () => Promise<{ readonly verb: CliVerb }>;
}

function unknown(arg: string, flags: Flags): ExitError {
  const [written = arg] = arg.split('=');
  const near = nearest(written.replace(/^-+/, ''), Object.keys(flags));
  const hint = near ? `; did you mean ${dashed(near)}?` : '';
  return misuse(`There is no flag ${quote(written)}${hint}`);
}

export function dashed(flag: string): string {
  return flag.length === 1 ? `-${flag}` : `--${flag}`;
}

export function misuse(message: string, cause?: unknown): ExitError {
  return new ExitError(STATUS.usage, message, { cause });
}
