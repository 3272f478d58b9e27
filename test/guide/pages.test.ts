/**
 * The code in the README and the guide, run as it stands there: each block once, to its end, in a
 * world that gives it what it takes as given (test/guide/world.ts). A block passes if it ends, has
 * called each function of the reader's that it names, and did what test/guide/scenarios.ts expects.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isLockError } from 'holdfast';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Block, blocksOf, guidePages, namesIn, readPage, runBlock } from './blocks.ts';
import { ON_SERVERS, RUN_BY, SERVERS } from './elsewhere.ts';
import { SCENARIOS, type Scenario } from './scenarios.ts';
import { openWorld, type World } from './world.ts';

const pages = guidePages().filter((page) => !(page in RUN_BY));
const blocks = pages.flatMap(blocksOf);
const isAt =
  ({ page, code }: Block) =>
  (entry: { readonly page: string; readonly has: string }) =>
    entry.page === page && code.includes(entry.has);
const toRun = blocks.filter((block) => !ON_SERVERS.some(isAt(block)));
const ran: Block[] = [];

// Some have files of their own in the directory in which they run.
const before = process.cwd();
const directory = mkdtempSync(join(tmpdir(), 'holdfast-pages-'));
beforeAll(() => process.chdir(directory));
afterAll(() => {
  process.chdir(before);
  rmSync(directory, { recursive: true, force: true });
});

test.each(toRun)('$page:$line', async (block) => {
  const world = await openWorld();
  const scenario = SCENARIOS.find(isAt(block));
  try {
    await play(block, world, scenario);
    const uncalled = [...namesIn(block)].filter((name) => world.calls.get(name) === 0);
    expect(uncalled).toEqual(scenario?.uncalled ?? []);
    expect(world.printed.join('\n')).toContain(scenario?.prints ?? '');
  } finally {
    await world.close();
  }
  ran.push(block);
});

async function play(block: Block, world: World, scenario: Scenario | undefined): Promise<void> {
  await scenario?.before?.(world);
  const running = runBlock(block, world);
  if (scenario?.rejects) {
    const { rejects } = scenario;
    const error: unknown = await running.then(undefined, (reason: unknown) => reason);
    expect(error).toSatisfy((reason: unknown) => isLockError(reason, rejects));
    return;
  }
  const [exported] = await Promise.all([running, scenario?.meanwhile?.(world)]);
  await scenario?.after?.(world, exported);
}

test('every block was run, or is listed', () => {
  const fences = pages.flatMap((page) => readPage(page).match(/^ *```ts/gm) ?? []);
  expect(ran.length + ON_SERVERS.length).toBe(fences.length);
});

test.each(ON_SERVERS)('$page has one block with $has, which needs a server', (listed) => {
  const found = blocks.filter((block) => isAt(block)(listed));
  expect(found.map((block) => namesIn(block).has(listed.uses))).toEqual([true]);
  expect(SERVERS).toHaveProperty(listed.uses);
});

test('every scenario is for one block', () => {
  for (const scenario of SCENARIOS) {
    expect(
      toRun.filter((block) => isAt(block)(scenario)),
      scenario.has,
    ).toHaveLength(1);
  }
  for (const block of toRun) expect(SCENARIOS.filter(isAt(block)).length).toBeLessThan(2);
});

test.each(Object.entries(RUN_BY))('%s is run by %s', (page, path) => {
  expect(blocksOf(page).length).toBeGreaterThan(0);
  const name = page.replace('docs/guide/', '');
  expect(readFileSync(join(before, path), 'utf8')).toContain(name);
});
