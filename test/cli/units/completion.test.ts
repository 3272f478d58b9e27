/** What bash completes by the script that `holdfast completion bash` prints. */
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { VERBS } from '../../../src/cli/verb-table.ts';
import { Place } from '../program.ts';

/** A place in which `holdfast` is a program on the PATH, and `completed LINE` what bash offers. */
async function shellIn(place: Place): Promise<(line: string) => Promise<readonly string[]>> {
  writeFileSync(place.path('holdfast'), '#!/bin/sh\nexec $holdfast "$@"\n');
  chmodSync(place.path('holdfast'), 0o755);
  writeFileSync(place.path('completion'), (await place.fate('completion', 'bash')).out);
  return async (line) => {
    const script = `PATH=$PWD:$PATH; source ./completion; complete -p holdfast > complete
      COMP_LINE=$line COMP_POINT=\${#line}; _holdfast; printf '%s\\n' "\${COMPREPLY[@]}"`;
    const bash = place.shell('exec bash --norc -c "$script"', { env: { script, line } });
    const { status, out, err } = await bash.fate;
    expect({ status, err }).toEqual({ status: 0, err: '' });
    return out.split('\n').filter(Boolean);
  };
}

it('completes verbs, their flags and their words', async () => {
  const place = new Place();
  const completed = await shellIn(place);
  expect(await completed('holdfast ')).toEqual([...VERBS.keys()]);
  expect(place.read('complete')).toBe('complete -o bashdefault -o default -F _holdfast holdfast\n');
  expect(await completed('holdfast e')).toEqual(['elect', 'evict']);
  expect(await completed('holdfast --store ru')).toEqual([]);
  expect(await completed('holdfast --store run e')).toEqual(['elect', 'evict']);
  expect(await completed('holdfast help wa')).toEqual(['watch']);
  expect(await completed('holdfast run --m')).toEqual(['--min-hold', '--max-hold']);
  expect(await completed('holdfast once --m')).toEqual(['--max-hold']);
  expect(await completed('holdfast completion ')).toEqual(['bash', 'zsh', 'fish']);
});

it('completes names that are in use, and runs none of them', async () => {
  const place = new Place();
  mkdirSync(place.path('other'));
  const completed = await shellIn(place);
  const names = ['invoice:7', 'invoice:8', '$(touch ran)'];
  const [first, ...others] = names.map((name) => place.start(['run', name, '--', 'cat']));
  await place.holding(3, 0);
  expect(await completed('holdfast show ')).toHaveLength(3);
  expect(await completed('holdfast show $')).toEqual(['\\$\\(touch\\ ran\\)']);
  expect(place.read('ran')).toBe('');
  // Bash splits at the colon, and puts what is offered behind it.
  expect(await completed('holdfast evict invoice:')).toEqual(['7', '8']);
  expect(await completed('holdfast evict --token 1')).toEqual([]);
  expect(await completed(`holdfast show --store other/none.db `)).toEqual([]);
  for (const each of [first, ...others]) each?.process.stdin?.end();
  await Promise.all([first, ...others].map((each) => each?.fate));
});

it('completes the command behind --, and leaves its files to bash', async () => {
  const completed = await shellIn(new Place());
  expect(await completed('holdfast run a -- prin')).toContain('printf');
  expect(await completed('holdfast run a -- printf ')).toEqual([]);
  expect(await completed('holdfast show -- prin')).toEqual([]);
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
