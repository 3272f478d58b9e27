/**
 * The models, checked by Spin: as they are, in all their states; and with each rule broken, until a
 * counterexample shows why the rule is there.
 */
import { execFile } from 'node:child_process';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { type Command, findProgram } from '../../servers/programs.ts';
import { directory } from '../../support/directory.ts';

const run = promisify(execFile);
const GRANTS = resolve('test/methods/models/quorum.pml');
const WAITS = resolve('test/methods/models/quorum-wait.pml');

/** Longest time of a check, in ms: it takes seconds, on a busy machine minutes. */
const LIMIT_MS = 900_000;

const [spin, cc] = await Promise.all([findProgram('spin'), findProgram('cc')]);

function start([program, ...given]: Command, args: readonly string[], cwd: string): Promise<Said> {
  return run(program, [...given, ...args], { cwd });
}

type Said = { readonly stdout: string };

/** What the checker says about a model with these words defined. */
async function check(words: readonly string[], model: string = GRANTS): Promise<string> {
  const folder = directory();
  const defined = words.map((word) => `-D${word}`);
  await start(spin, [`-P${cc.join(' ')} -E -xc`, '-a', ...defined, model], folder);
  const switches = ['-O2', '-DSAFETY', '-DVECTORSZ=512', '-DCOLLAPSE', '-DMEMLIM=3000'];
  await start(cc, [...switches, '-o', 'pan', 'pan.c'], folder);
  return (await start([join(folder, 'pan')], ['-m200000', '-w24'], folder)).stdout;
}

const SMALL = ['GRANTS=1', 'LOSSES=0'];

describe('the model of who waits', () => {
  it('ends in every state with everybody having held', { timeout: LIMIT_MS }, async () => {
    expect(await check([], WAITS)).toMatch(/errors: 0/);
  });

  it('has a circle where votes above the room are kept', { timeout: LIMIT_MS }, async () => {
    expect(await check(['KEEP'], WAITS)).toMatch(/invalid end state/);
  });
});

describe('the model of grants', () => {
  it.each([
    ['two clients', SMALL],
    ['a member that loses its memory', ['GRANTS=1', 'LOSSES=1']],
  ])('holds in every state: %s', { timeout: LIMIT_MS }, async (_, words) => {
    const said = await check(words);
    expect(said).toMatch(/errors: 0/);
    expect(said).not.toMatch(/max search depth too small|out of memory|reached -DMEMLIM/);
  });

  it.each([
    ['HALF', 'half of the members make a majority', SMALL],
    ['NO_QUARANTINE', 'a member without memory votes at once', ['GRANTS=1']],
    ['REPLY', 'a deadline counts from the reply', SMALL],
    ['NO_RAISE', 'nobody is raised', ['LOSSES=0']],
    ['RAISE_ONE', 'fewer than a majority are raised', ['LOSSES=0']],
    ['COUNTER', 'a member counts from the beginning after a loss', ['GRANTS=1']],
    ['REVIVE', 'a vote that is won back revives a hold', ['LOSSES=0']],
  ])('has a counterexample where %s: %s', { timeout: LIMIT_MS }, async (rule, _, words) => {
    expect(await check([...words, rule])).toMatch(/assertion violated/);
  });
});
