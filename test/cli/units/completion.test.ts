/** What bash completes by the script that `holdfast completion bash` prints. */
import { expect } from 'vitest';
import { VERBS } from '../../../src/cli/verb-table.ts';
import { it, Place } from '../program.ts';

/** Of all tests, for a process takes long on a busy machine. */
let script: Promise<string> | undefined;

/** What bash offers for each of these lines, where `holdfast` is a program on the PATH. */
async function completes(place: Place, expected: Readonly<Record<string, unknown>>): Promise<void> {
  script ??= place.fate('completion', 'bash').then(({ out }) => out);
  place.write('holdfast', '#!/bin/sh\nexec $holdfast "$@"\n', 0o755);
  place.write('completion', await script);
  const lines = Object.keys(expected);
  const asks = `PATH=$PWD:$PATH; source ./completion; complete -p holdfast > complete
    while IFS= read -r COMP_LINE; do
      COMP_POINT=\${#COMP_LINE}; _holdfast; printf '%s\\t' "\${COMPREPLY[@]}"; echo
    done <<< "$lines"`;
  const env = { asks, lines: lines.join('\n') };
  const { status, out, err } = await place.shell('exec bash --norc -c "$asks"', { env }).fate;
  expect({ status, err }).toEqual({ status: 0, err: '' });
  const offers = out.split('\n').map((offer) => offer.split('\t').filter(Boolean));
  expect(Object.fromEntries(lines.map((line, n) => [line, offers[n]]))).toEqual(expected);
}

it('completes verbs, their flags and their words', async ({ place }) => {
  await completes(place, {
    'holdfast ': [...VERBS.keys()],
    'holdfast e': ['elect', 'evict'],
    'holdfast --store ru': [],
    'holdfast --store run e': ['elect', 'evict'],
    'holdfast help wa': ['watch'],
    'holdfast run --m': ['--min-hold', '--max-hold'],
    'holdfast once --m': ['--max-hold'],
    'holdfast completion ': ['bash', 'zsh', 'fish'],
  });
  expect(place.read('complete')).toBe('complete -o bashdefault -o default -F _holdfast holdfast\n');
});

it('completes names that are in use, and runs none of them', async () => {
  const [place, used] = [new Place(), new Place()];
  for (const name of ['invoice:$(touch ran)', 'invoice:7', 'job:9']) await used.hold(name);
  await completes(place, {
    // Bash splits at the colon, and puts what is offered behind it.
    [`holdfast evict --store ${used.file} invoice:`]: ['\\$\\(touch\\ ran\\)', '7'],
    'holdfast evict --token 1': [],
  });
  expect(place.has('ran')).toBe(false);
});

it('completes the command behind --, and leaves its files to bash', async () => {
  await completes(new Place(), {
    'holdfast run a -- prin': expect.arrayContaining(['printf']),
    'holdfast run a -- printf ': [],
    'holdfast show -- prin': [],
  });
});

it('every flag is in the help of its verb', async () => {
  for (const [name, { load }] of VERBS) {
    const { help, flags } = (await load()).verb;
    expect(help).toMatch(new RegExp(`^Usage: holdfast ${name}\\b`));
    const missing = Object.keys(flags).filter(
      (flag) => !new RegExp(`--${flag}\\b|-${flag}\\b`).test(help),
    );
    expect([name, missing.filter((flag) => flag !== 'help')]).toEqual([name, []]);
  }
});
