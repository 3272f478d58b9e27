/** The runner of all tests, on files whose tests stand still, hang and fail in all ways. */
import { execFile } from 'node:child_process';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { directory } from '../../support/directory.ts';

const ROOT = join(import.meta.dirname, '../../..');
const support = (file: string): string => JSON.stringify(join(ROOT, 'test/support', file));

const HEAD = `
  import { expect, it } from 'vitest';
  import { paced } from ${support('this-run.ts')};
  import { TooLate } from ${support('until.ts')};
  const standStill = (ms) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
`;

interface Told {
  readonly fullName: string;
  readonly status: string;
  readonly failureMessages: readonly string[];
  readonly meta: { readonly void?: { readonly stoodStillMs: number } };
}

/** Runs this one file, in which a test hangs after a second. */
async function run(code: string, timed: boolean): Promise<ReadonlyMap<string, Told>> {
  const root = directory();
  const runner = join(ROOT, 'test/support/runner.ts');
  const env = { HOLDFAST_TIMED: timed ? '1' : '0' };
  const config = { test: { runner, env, testTimeout: 0, reporters: 'json', outputFile: 'told' } };
  writeFileSync(join(root, 'vitest.config.mjs'), `export default ${JSON.stringify(config)}`);
  writeFileSync(join(root, 'a.test.js'), HEAD + code);
  symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'));
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
  await promisify(execFile)(process.execPath, [vitest, 'run'], {
    cwd: root,
    env: { ...process.env, VITEST: '', HOLDFAST_HANG_MS: '1000', HOLDFAST_PACE: '1' },
  }).catch(() => {});
  const { testResults } = JSON.parse(readFileSync(join(root, 'told'), 'utf8'));
  return new Map(testResults[0].assertionResults.map((each: Told) => [each.fullName, each]));
}

/** A third of its lease is what the machine stands still for. */
const STALLS = `
  paced(1200);
  it('late', () => { standStill(600); throw new TooLate('never held'); });
  it('wrong', () => { standStill(600); expect(2).toBe(1); });
  it('passes', () => standStill(600));
`;

test('what came too late while the machine stood still is void, and nothing else', async () => {
  const told = await run(STALLS, true);
  expect(told.get('late')?.meta.void?.stoodStillMs).toBeGreaterThan(500);
  expect(told.get('wrong')).toMatchObject({ status: 'failed', meta: {} });
  expect(told.get('wrong')?.meta.void).toBeUndefined();
  expect(told.get('passes')).toMatchObject({ status: 'passed', meta: {} });
});

test('nothing is void without a stall, or where no lease ends on a real clock', async () => {
  // No machine stands still for twenty seconds.
  const calm = "paced(60_000); it('late', () => { throw new TooLate('never held'); });";
  for (const told of [await run(calm, true), await run(STALLS, false)]) {
    expect(told.get('late')).toMatchObject({ status: 'failed' });
    expect(told.get('late')?.meta.void).toBeUndefined();
  }
});

test('a test hangs if its process had the time, and not while that stands still', async () => {
  const told = await run(
    `
    it('waits for ever', () => new Promise(() => {}));
    it('computes for ever', async () => { for (;;) await new Promise(setImmediate); });
    it('stands still', () => standStill(3000));
    it('ends late', async () => { standStill(3000); await new Promise(setImmediate); });
    `,
    false,
  );
  for (const name of ['waits for ever', 'computes for ever']) {
    expect(told.get(name)?.failureMessages.join()).toContain('it hangs: no test of this file');
  }
  expect(told.get('stands still')?.status).toBe('passed');
  expect(told.get('ends late')?.status).toBe('passed');
});
