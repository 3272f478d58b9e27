/** Reads what stands behind a verb, and refuses what it does not know. */
import { type Duration, parseDuration } from '../base/duration.ts';
import { checkName } from '../base/names.ts';
import { nearest } from '../base/nearest.ts';
import { ExitError, STATUS } from './process/exit-status.ts';
import { quote } from './text.ts';

/** The flags of a verb: whether each stands alone or takes a value. */
export type Flags = Readonly<Record<string, 'alone' | 'value'>>;

export const COMMON: Flags = { '--store': 'value', '--json': 'alone', '--help': 'alone' };

export class Arguments {
  readonly words: readonly string[];
  /** What stands behind `--`, for verbs that take a command; undefined without one. */
  readonly command: readonly string[] | undefined;
  readonly #values: ReadonlyMap<string, string>;

  constructor(
    words: readonly string[],
    values: ReadonlyMap<string, string>,
    command: readonly string[] | undefined,
  ) {
    this.words = words;
    this.command = command;
    this.#values = values;
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
      throw misuse(`${flag} takes ${good}, not ${quote(text)}${near}`, cause);
    }
  }

  whole(flag: string, least: number, most: number): number | undefined {
    const text = this.#values.get(flag);
    if (text === undefined) return undefined;
    const number = /^\d+$/.test(text) ? Number(text) : Number.NaN;
    if (number >= least && number <= most) return number;
    throw misuse(`${flag} takes a whole number from ${least} to ${most}, not ${quote(text)}`);
  }

  /** The only word, or none where there may be none. */
  atMostOne(advice = ''): string | undefined {
    const [first, second] = this.words;
    if (second !== undefined) throw misuse(`${quote(second)} is one word too many${advice}`);
    return first;
  }

  /** Of a lock. @throws UsageError if there can be none with it. */
  name(advice = ''): string {
    const word = this.atMostOne(advice);
    if (word === undefined) throw misuse('NAME is missing');
    return checkName(word);
  }
}

/** Without a command, what stands behind `--` are words, whatever they begin with. */
export function parse(args: readonly string[], flags: Flags, takesCommand = false): Arguments {
  const words: string[] = [];
  const values = new Map<string, string>();
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] as string;
    if (arg === '--') {
      const others = args.slice(at + 1);
      if (takesCommand) return new Arguments(words, values, others);
      return new Arguments([...words, ...others], values, undefined);
    }
    if (!arg.startsWith('-') || arg === '-') {
      words.push(arg);
      continue;
    }
    const { flag, inline } = split(arg, flags);
    if (values.has(flag)) throw misuse(`${flag} is given twice`);
    if (flags[flag] === 'alone') {
      if (inline !== undefined) throw misuse(`${flag} takes no value`);
      values.set(flag, '');
      continue;
    }
    const value = inline ?? args[++at];
    if (value === undefined || (inline === undefined && value.startsWith('-'))) {
      throw misuse(`${flag} needs a value`);
    }
    values.set(flag, value);
  }
  return new Arguments(words, values, undefined);
}

/** `--wait=5s`, `-E5`, `-h`. */
function split(arg: string, flags: Flags): { flag: string; inline?: string } {
  const [name, ...rest] = arg.startsWith('--') ? arg.split('=') : [arg.slice(0, 2), arg.slice(2)];
  const flag = name === '-h' ? '--help' : (name as string);
  if (!Object.hasOwn(flags, flag)) {
    const bare = (text: string): string => text.replace(/^-+/, '');
    const known = new Map(Object.keys(flags).map((each) => [bare(each), each]));
    const [written = arg] = arg.split('=');
    const near = known.get(nearest(bare(written), known.keys()) ?? '');
    throw misuse(`There is no flag ${quote(written)}${near ? `; did you mean ${near}?` : ''}`);
  }
  const inline = rest.join('=');
  return arg === name ? { flag } : { flag, inline };
}

export function misuse(message: string, cause?: unknown): ExitError {
  return new ExitError(STATUS.usage, message, { cause });
}
