/** What can stand in a command line, for the completion of every shell. */
import { dashed, type ListedVerb } from '../arguments.ts';

export interface VerbWords {
  readonly name: string;
  readonly about: string;
  /** With their dashes. */
  readonly flags: readonly { readonly name: string; readonly takesValue: boolean }[];
  readonly takesCommand: boolean;
  /** Its argument may be the name of a lock that is in use. */
  readonly takesName: boolean;
  /** The only words that it takes, if there are only a few. */
  readonly words: readonly string[];
}

export async function wordsOf(all: ReadonlyMap<string, ListedVerb>): Promise<readonly VerbWords[]> {
  return Promise.all(
    [...all].map(async ([name, { use, about, load }]) => {
      const { verb } = await load();
      const flags = Object.entries(verb.flags).map(([flag, { type }]) => ({
        name: dashed(flag),
        takesValue: type === 'string',
      }));
      const takesName = / (NAME|\[PREFIX\])/.test(use);
      const { takesCommand = false, words = [] } = verb;
      return { name, about, flags, takesCommand, takesName, words };
    }),
  );
}

export function namesOf(some: readonly { readonly name: string }[]): string[] {
  return some.map(({ name }) => name);
}

/**
 * What bash and zsh share: they go through the words before the cursor, each in `word`, to find the
 * verb and the store, and then know which flags and other words can follow. `word` is '--' at the
 * end if the cursor is behind it.
 */
export function readingText(verbs: readonly VerbWords[]): string {
  const arms = verbs.map(({ name, flags, words }) => {
    const valued = namesOf(flags.filter(({ takesValue }) => takesValue)).join(' ');
    const lists = `valued='${valued}' choices=(${words.join(' ')})`;
    return `    ${name}) flags=(${namesOf(flags).join(' ')}) ${lists} ;;\n`;
  });
  return `\
    if [[ $word == -- ]]; then break
    elif [[ $previous == --store ]]; then store=$word
    elif [[ $word == --store=* ]]; then store=\${word#*=}
    elif [[ $word != -* && -z $verb ]]; then verb=$word
    fi
    previous=$word
  done
  case $verb in
${arms.join('')}  esac
`;
}
