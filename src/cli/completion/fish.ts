import { namesOf, type VerbWords } from './words.ts';

export function fish(verbs: readonly VerbWords[]): string {
  const at = (some: readonly string[], rest: string): string =>
    `complete -c holdfast -n '__holdfast_at ${some.join(' ')}' ${rest}\n`;
  const lines = [
    ...verbs.map(({ name, about }) => at(['""', 'help'], `-a ${name} -d '${about}'`)),
    ...verbs.flatMap(({ name, flags }) =>
      flags.map((flag) => {
        const word = flag.name.replace(/^--/, '-l ').replace(/^-(\w)$/, '-s $1');
        const value = flag.name === '--store' ? ' -r -F' : flag.takesValue ? ' -x' : '';
        return at([name], word + value);
      }),
    ),
    ...verbs
      .filter(({ words }) => words.length > 0)
      .map(({ name, words }) => at([name], `-a '${words.join(' ')}'`)),
    at(namesOf(verbs.filter(({ takesName }) => takesName)), `-a '(__holdfast_names)'`),
    `complete -c holdfast -n 'contains -- -- (commandline -opc)' -a '(__holdfast_command)'\n`,
  ];
  return `# Completion of holdfast for fish; made by 'holdfast completion fish'.
# Prints the verb, or an empty line; fails behind '--', where a command has words of its own.
function __holdfast_verb
    set -l words (commandline -opc)
    contains -- -- $words && return 1
    set -e words[1]
    set -l previous ''
    for word in $words
        if test "$previous" != --store && not string match -q -- '-*' $word
            echo $word
            return
        end
        set previous $word
    end
    echo
end
function __holdfast_at
    set -l verb (__holdfast_verb) && contains -- "$verb" $argv
end
function __holdfast_names
    set -l words (commandline -opc)
    set -l store (string match -- '--store=*' $words)
    set -l at (contains -i -- --store $words)
    if test -n "$at" && test $at -lt (count $words)
        set store --store $words[(math $at + 1)]
    end
    $words[1] ls $store 2>/dev/null </dev/null
end
function __holdfast_command
    set -l words (commandline -opc)
    set -l at (contains -i -- -- $words) || return
    set -e words[1..$at]
    complete -C (string join ' ' -- (string escape -- $words) (commandline -ct))
end
complete -c holdfast -f
${lines.join('')}`;
}
