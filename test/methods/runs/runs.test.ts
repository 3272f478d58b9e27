/** What the runs of the tests promise: the battery has everything, and the page is its ledger. */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { LEDGER, PAGE, pageOf } from '../../../scripts/evidence.ts';
import { BATTERY } from '../../../scripts/lists.ts';
import { runSteps } from '../../../scripts/run-steps.ts';
import { ROOT, type Step, type Tally } from '../../../scripts/steps.ts';
import config from '../../../vitest.config.ts';
import { gate } from '../../support/gate.ts';

const read = (path: string): string => readFileSync(join(ROOT, path), 'utf8');

it('the battery has every project of the tests', () => {
  const projects = (config.test?.projects ?? []) as { test: { name: string } }[];
  const names = BATTERY.map(({ step }) => step.name);
  expect(projects.map(({ test }) => test.name).filter((name) => !names.includes(name))).toEqual([]);
});

it('the battery points at files that are there', () => {
  expect(BATTERY.filter(({ from }) => !existsSync(join(ROOT, from)))).toEqual([]);
});

it('the page of evidence says what the ledger of the battery says, and no more', () => {
  const plain = (text: string): string =>
    text.replace(/ +/g, ' ').replace(/-{3,}/g, '---').replace(/\n+/g, '\n');
  expect(plain(read(PAGE))).toBe(plain(pageOf(JSON.parse(read(LEDGER)))));
});

it('steps that compute run beside those that count on clocks, each kind in its order', async () => {
  const course: string[] = [];
  const both = gate();
  const step = (name: string, beside: boolean, work: () => Promise<void>): Step => ({
    ...{ name, beside, seconds: 1 },
    async run(): Promise<Tally> {
      course.push(name);
      await work();
      return { passed: 1, failed: [], skipped: [] };
    },
  });
  const ended = await runSteps([
    step('timed', false, () => both.opened),
    step('timed too', false, async () => {}),
    // The first waits for this one, so both have to be under way.
    step('beside', true, async () => both.open()),
    step('broken', true, () => Promise.reject(new Error('it broke'))),
  ]);
  expect(course.indexOf('timed too')).toBeGreaterThan(course.indexOf('timed'));
  expect(ended.flatMap(({ failed }) => failed)).toEqual(['broken']);
  expect(ended.map(({ step: name }) => name).sort()).toEqual([
    ...['beside', 'broken', 'timed', 'timed too'],
  ]);
});
