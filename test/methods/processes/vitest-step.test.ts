/** The steps of `npm test`: those that ask a failed test again, on small projects. */
import { fork } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { remember } from '../../../scripts/asked-again.ts';
import { ROOT, type Tally } from '../../../scripts/steps.ts';
import { findProgram } from '../../servers/programs.ts';

/** A runner of its own has to start, on a machine that may be busy. */
const PATIENCE = { timeout: 120_000 };

const CONFIG = "export default { test: { projects: [{ test: { name: 'timed' } }] } };";

const HEAD = `
import { existsSync, writeFileSync } from 'node:fs';
import { it } from 'vitest';
const first = (name) => {
  if (existsSync(name)) return false;
  writeFileSync(name, '');
  return true;
};
const once = (name) => it(name, () => { if (first(name)) throw new Error('too slow'); });
const reject = (why) => void Promise.reject(new Error(why));
`;

const all = mkdtempSync(join(tmpdir(), 'holdfast-steps-'));
afterAll(() => rmSync(all, { recursive: true }));

const folder = (): string => mkdtempSync(join(all, 'one-'));

interface Project {
  /** Of its one test file, with `once(name)` for a test that fails the first time. */
  readonly code: string;
  /** What was asked again in the runs before this. */
  readonly before?: readonly (readonly string[])[];
}

async function run({ code, before = [] }: Project): Promise<Tally & { readonly kept: unknown }> {
  const root = folder();
  const memory = join(root, 'cache/asked-again.json');
  mkdirSync(join(root, 'cache'));
  writeFileSync(memory, JSON.stringify({ timed: before }));
  writeFileSync(join(root, 'vitest.config.mjs'), CONFIG);
  writeFileSync(join(root, 'a.test.js'), HEAD + code);
  symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'));
  const sources = join(ROOT, 'scripts/sources.mjs');
  const child = fork(join(ROOT, 'test/methods/processes/children/vitest-step.ts'), [root, memory], {
    ...{ cwd: root, stdio: ['ignore', 'pipe', 'pipe', 'ipc'], execArgv: ['--import', sources] },
    env: { ...process.env, TSX_TSCONFIG_PATH: join(ROOT, 'tsconfig.json'), VITEST: '' },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (text) => {
      output += text;
    });
  }
  const tally = await new Promise<Tally>((resolve, reject) => {
    child.once('message', (message) => resolve(message as Tally));
    child.once('exit', () => reject(new Error(`It ended without a word:\n${output}`)));
  });
  return { ...tally, kept: JSON.parse(readFileSync(memory, 'utf8')).timed };
}

describe('a timed step', PATIENCE, () => {
  it.concurrent('asks what failed again, alone, and remembers what passed only then', async () => {
    const { passed, failed, onlyAlone, kept } = await run({
      code: "once('slow'); it('quick', () => {}); it('broken', () => { throw new Error(); });",
    });
    expect({ passed, failed, onlyAlone }).toEqual({
      ...{ passed: 2, failed: ['a.test.js > broken'], onlyAlone: ['a.test.js > slow'] },
    });
    expect(kept).toEqual([['a.test.js > slow']]);
  });

  it.concurrent('fails for what is rejected in no test, at first and asked again', async () => {
    const code = `
      it('quick', () => { if (first('quick')) reject('lost at first'); });
      it('slow', () => {
        if (first('slow')) throw new Error('too slow');
        reject('lost again');
      });`;
    const { failed, onlyAlone } = await run({ code });
    expect(onlyAlone).toEqual(['a.test.js > slow']);
    expect(failed).toEqual([
      'a.test.js: an error in no test: lost again',
      'timed: an error in no test: lost at first',
    ]);
  });

  it.concurrent('asks nothing again when more than five fail', async () => {
    const { failed, kept } = await run({ code: "for (const name of 'abcdef') once(name);" });
    expect(failed).toEqual([...'abcdef'].map((name) => `a.test.js > ${name}`));
    expect(kept).toEqual([]);
  });

  it.concurrent('fails for a test that passed only alone in a run before', async () => {
    const before = [['a.test.js > slow'], [], [], []];
    const { failed } = await run({ code: "once('slow'); once('other');", before });
    expect(failed).toEqual([expect.stringContaining('a.test.js > slow (passed only when asked')]);
  });
});

describe('what was asked again', () => {
  it('may be asked again once in five runs, in each step', () => {
    const file = join(folder(), 'cache/asked-again.json');
    const often = (step: string, ...asked: readonly string[]): readonly string[] => [
      ...remember(file, step, asked).keys(),
    ];
    expect(often('servers', 'a', 'b')).toEqual([]);
    expect(often('processes', 'a')).toEqual([]);
    for (let i = 0; i < 3; i += 1) expect(often('servers')).toEqual([]);
    expect(often('servers', 'a', 'c')).toEqual(['a']);
    // By now the first is too long ago.
    expect(often('servers', 'b')).toEqual([]);
  });

  it('is forgotten with a file that cannot be read, which fails nothing', () => {
    const place = folder();
    writeFileSync(join(place, 'garbage'), '{');
    expect(remember(join(place, 'garbage'), 'servers', ['a']).size).toBe(0);
    expect(remember(join(place, 'garbage/below'), 'servers', ['a']).size).toBe(0);
    expect(JSON.parse(readFileSync(join(place, 'garbage'), 'utf8'))).toEqual({ servers: [['a']] });
  });
});

it('no server is found, whether or not the machine has it: npm test must do without', async () => {
  await expect(findProgram('redis')).rejects.toThrow(/vitest\.config\.ts/);
});
