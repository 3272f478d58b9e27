/** What a person gets who presses Tab in a shell; test/cli/units has the cases, in bash. */
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { beforeEach, expect, it } from 'vitest';
import { findProgram, missing } from '../../servers/programs.ts';
import { letGo, needsTerminals, Place } from '../program.ts';

beforeEach(needsTerminals);

/** Writes what the shell reads at its start, and returns how to start it. */
const SHELLS = {
  async bash(place: Place): Promise<string> {
    place.write('rc', 'source ./completion\nPS1=ready-$((1 + 1))\n');
    return 'bash --noprofile --rcfile rc -i';
  },
  async zsh(place: Place): Promise<string> {
    const command = await findProgram('zsh');
    const root = dirname(dirname(command.at(-1) as string));
    const lines = [
      `module_path=(${root}/usr/lib/*-linux-gnu/zsh/*(/))`,
      `fpath=(${root}/usr/share/zsh/functions/Completion $fpath)`,
      `fpath+=(${root}/usr/share/zsh/functions/Completion/*(/))`,
      'autoload -Uz compinit && compinit -D -u',
      ...['source ./completion', 'PS1=ready-$((1 + 1))'],
    ];
    place.write('.zshrc', `${lines.join('\n')}\n`);
    return `env ZDOTDIR=$PWD ${command.join(' ')} -i`;
  },
  async fish(place: Place): Promise<string> {
    const prompt = 'function fish_prompt; echo -n ready-(math 1 + 1); end';
    mkdirSync(place.path('fish'));
    place.write('fish/config.fish', `source ./completion\n${prompt}\n`);
    const command = await findProgram('fish');
    return `env XDG_CONFIG_HOME=$PWD HOME=$PWD ${command.join(' ')} -i`;
  },
};

it.for(Object.keys(SHELLS) as (keyof typeof SHELLS)[])(
  '%s completes verbs, names in use and flags',
  async (name, { skip }) => {
    if (name !== 'bash') {
      const reason = await missing(name);
      skip(reason !== undefined, reason);
    }
    const place = new Place();
    place.write('holdfast', '#!/bin/sh\nexec $holdfast "$@"\n', 0o755);
    place.write('completion', (await place.fate('completion', name)).out);
    const holder = await place.hold('invoice:7');
    const path = `${place.folder}:${process.env.PATH}`;
    // The store is named by the line alone.
    const env = { PATH: path, HOLDFAST_STORE: '' };
    const terminal = place.terminal(await SHELLS[name](place), env);
    await terminal.says('ready-2');
    terminal.type(`holdfast sho\t--store=${place.file} invoi\t--js\t\r`);
    await terminal.says('"holders":[{');
    expect(terminal.out).toContain('{"resource":"invoice:7"');
    terminal.type('exit\r');
    await terminal.fate;
    await letGo(holder);
  },
);
