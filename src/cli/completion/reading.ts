import { listOf, type VerbWords } from './words.ts';

/**
 * What bash and zsh share: they go through the words before the cursor, each in `word`, to find the
 * verb and the store, and then know which flags and other words can follow. `word` is '--' at the
 * end if the cursor is behind it.
 */
export function readingText(verbs: readonly VerbWords[]): string {
  const arms = verbs.map(({ name, flags, words }) => {
    const valued = listOf(flags.filter(({ takesValue }) => takesValue));
    const lists = `flags=(${listOf(flags)}) valued='${valued}' choices=(${words.join(' ')})`;
    return `    ${name}) ${lists} ;;\n`;
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
