/** The steps of `npm test`: those that run a void test again, on small projects. */
import { fork } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { ROOT, type Tally } from '../../../scripts/steps.ts';
import { findProgram } from '../../servers/programs.ts';

const CONFIG = "export default { test: { projects: [{ test: { name: 'timed' } }] } };";

/** `late` fails as a test does while the machine stands still, so many times. */
const HEAD = `
import { appendFileSync, readFileSync } from 'node:fs';
import { it } from 'vitest';
const run = (name) => {
  appendFileSync(name, (process.env.HOLDFAST_PACE ?? '1') + ' ');
  return readFileSync(name, 'utf8').trim().split(' ').length;
};
const late = (name, times) => it(name, ({ task }) => {
  if (run(name) > times) return;
  task.meta.void = { stoodStillMs: 700 };
  throw new Error('too slow');
});
const reject = (why) => void Promise.reject(new Error(why));
`;

const all = mkdtempSync(join(tmpdir(), 'holdfast-steps-'));
afterAll(() => rmSync(all, { recursive: true }));

/** @param code of its one test file. */
async function run(code: string): Promise<Tally & { readonly paces: (test: string) => string }> {
  const root = mkdtempSync(join(all, 'one-'));
  writeFileSync(join(root, 'vitest.config.mjs'), CONFIG);
  writeFileSync(join(root, 'a.test.js'), HEAD + code);
  symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'));
  const { HOLDFAST_PACE: _, ...env } = process.env;
  const child = fork(join(ROOT, 'test/methods/processes/children/vitest-step.ts'), [root], {
    ...{ cwd: root, stdio: ['ignore', 'pipe', 'pipe', 'ipc'] },
    execArgv: ['--import', join(ROOT, 'scripts/sources.mjs')],
    env: { ...env, TSX_TSCONFIG_PATH: join(ROOT, 'tsconfig.json'), VITEST: '' },
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream?.on('data', (text) => (output += text));
  }
  const tally = await new Promise<Tally>((resolve, reject) => {
    child.once('message', (message) => resolve(message as Tally));
    child.once('exit', () => reject(new Error(`It ended without a word:\n${output}`)));
  });
  return { ...tally, paces: (test) => readFileSync(join(root, test), 'utf8').trim() };
}

it.concurrent('runs what is void again, with longer leases, and nothing else', async () => {
  const code =
    "late('slow', 2); it('quick', () => {}); it('broken', () => { throw new Error(); });";
  const { passed, failed, paces } = await run(code);
  expect({ passed, failed }).toEqual({ passed: 2, failed: ['a.test.js > broken'] });
  expect(paces('slow')).toBe('1 2 4');
});

it.concurrent('fails for what is void three times more', async () => {
  const { failed, paces } = await run("late('stuck', 9);");
  expect(failed).toEqual(['a.test.js > stuck (void: this machine stood still for 700 ms)']);
  expect(paces('stuck')).toBe('1 2 4 8');
});

it.concurrent('fails for what fails without a stall when it runs again', async () => {
  const code =
    "it('wrong', ({ task }) => {\n" +
    "  if (run('wrong') === 1) task.meta.void = { stoodStillMs: 700 };\n" +
    "  throw new Error('two hold');\n" +
    '});';
  const { failed } = await run(code);
  expect(failed).toEqual(['a.test.js > wrong']);
});

it.concurrent('fails for what is rejected in no test, then and when it runs again', async () => {
  const code = `
    it('quick', () => { if (run('quick') === 1) reject('lost at first'); });
    it('slow', ({ task }) => {
      if (run('slow') > 1) return reject('lost again');
      task.meta.void = { stoodStillMs: 700 };
      throw new Error('too slow');
    });`;
  const { failed } = await run(code);
  expect(failed).toEqual([
    'timed: an error in no test: lost at first',
    'timed: an error in no test: lost again',
  ]);
});

it('no server is found, whether or not the machine has it: npm test must do without', async () => {
  await expect(findProgram('redis')).rejects.toThrow(/vitest\.config\.ts/);
});
