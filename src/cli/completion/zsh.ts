import { namesOf, readingText, type VerbWords } from './words.ts';

/** Completion for zsh: a file in `$fpath`, or read by `source`. */
export function zsh(verbs: readonly VerbWords[]): string {
  const described = verbs.map(({ name, about }) => `'${name}:${about}'`).join(' ');
  const commands = namesOf(verbs.filter(({ takesCommand }) => takesCommand)).join('|');
  const named = namesOf(verbs.filter(({ takesName }) => takesName)).join('|');
  return `#compdef holdfast
# Completion of holdfast for zsh; made by 'holdfast completion zsh'.
_holdfast() {
  local word verb store previous valued at
  local -a flags choices verbs
  for ((at = 2; at < CURRENT; at++)); do
    word=\${(Q)words[at]}
${readingText(verbs)}  if [[ $word == -- ]]; then
    [[ $verb == (${commands}) ]] || return
    shift $at words
    ((CURRENT -= at))
    _normal
  elif [[ $previous == --store || -n $previous && " $valued " == *" $previous "* ]]; then _files
  elif [[ -z $verb || $verb == help ]]; then
    verbs=(${described})
    _describe verb verbs
  elif [[ $PREFIX == -* ]]; then compadd -- $flags
  elif [[ $verb == (${named}) ]]; then
    choices=(\${(f)"$($words[1] ls \${store:+--store} $store 2> /dev/null < /dev/null)"})
    compadd -- $choices
  else compadd -- $choices
  fi
}
if [[ $funcstack[1] == _holdfast ]]; then _holdfast "$@"; else compdef _holdfast holdfast; fi
`;
}
