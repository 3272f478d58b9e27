import { nearest } from '../../base/nearest.ts';
import { ALONE, type CliVerb, type Flags, misuse } from '../arguments.ts';
import { print, quote } from '../output.ts';
import { bash } from './bash.ts';
import { fish } from './fish.ts';
import { wordsOf } from './words.ts';
import { zsh } from './zsh.ts';

const SHELLS = new Map(Object.entries({ bash, zsh, fish }));

export const verb: CliVerb = {
  help: `Usage: holdfast completion bash|zsh|fish

Prints the script by which the shell completes verbs, flags, names of locks that are in use, and
the command behind '--'. To keep it:

  holdfast completion bash > ~/.local/share/bash-completion/completions/holdfast
  holdfast completion zsh > ~/.zfunc/_holdfast      # a directory of $fpath
  holdfast completion fish > ~/.config/fish/completions/holdfast.fish
`,
  flags: { help: { ...ALONE, short: 'h' } } satisfies Flags,
  words: [...SHELLS.keys()],
  async run(given, all) {
    const shell = given.atMost(1);
    if (shell === undefined) throw misuse('SHELL is missing: bash, zsh or fish');
    const script = SHELLS.get(shell);
    if (!script) {
      const near = nearest(shell, SHELLS.keys());
      const advice = near ? `did you mean ${near}?` : 'there are bash, zsh and fish';
      throw misuse(`Completion has no shell ${quote(shell)}; ${advice}`);
    }
    await print(script(await wordsOf(all)));
    return 0;
  },
};
