/**
 * Completion for bash, including the 3.2 of macOS. Words end at blanks alone: bash would also split
 * names at their colons, and puts its reply behind the last one. No candidate goes through
 * `compgen -W`, which would run a name such as `$(x)`.
 */
import { namesOf, readingText, type VerbWords } from './words.ts';

export function bash(verbs: readonly VerbWords[]): string {
  const commands = namesOf(verbs.filter(({ takesCommand }) => takesCommand)).join('|');
  const named = namesOf(verbs.filter(({ takesName }) => takesName)).join('|');
  return `# Completion of holdfast for bash; made by 'holdfast completion bash'.
_holdfast() {
  local line=\${COMP_LINE:0:COMP_POINT} word='' verb='' store='' previous='' valued='' at
  local current=\${line##*[[:blank:]]}
  local -a before=() flags=() choices=() candidates=()
  COMPREPLY=()
  read -r -a before <<< "\${line%"$current"}"
  for ((at = 1; at < \${#before[@]}; at++)); do
    word=\${before[at]}
${readingText(verbs)}  if [[ $word == -- ]]; then
    # Behind the command are files, which the shell completes.
    [[ $verb =~ ^(${commands})$ && $at -eq $((\${#before[@]} - 1)) ]] || return
    while IFS= read -r word; do candidates+=("$word"); done < <(compgen -c -- "$current")
  elif [[ $previous == --store || -n $previous && " $valued " == *" $previous "* ]]; then return
  elif [[ -z $verb || $verb == help ]]; then candidates=(${namesOf(verbs).join(' ')})
  elif [[ $current == -* ]]; then candidates=("\${flags[@]}")
  elif [[ $verb =~ ^(${named})$ ]]; then
    while IFS= read -r word; do candidates+=("$word"); done < <(
      "\${before[0]}" ls \${store:+--store "$store"} 2> /dev/null < /dev/null
    )
  else candidates=("\${choices[@]}")
  fi
  local broken=''
  [[ $COMP_WORDBREAKS == *:* && $current == *:* ]] && broken=\${current%"\${current##*:}"}
  for word in "\${candidates[@]}"; do
    [[ $word == "$current"* ]] || continue
    printf -v word %q "\${word#"$broken"}"
    COMPREPLY+=("$word")
  done
}
complete -o bashdefault -o default -F _holdfast holdfast
`;
}
