/** The code in the pages and in the comments that needs servers, on real ones. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isAt } from '../methods/guide/blocks.ts';
import { needsServer, WRITING } from '../methods/guide/elsewhere.ts';
import { play } from '../methods/guide/play.ts';
import { snippetsIn } from '../methods/tidy/snippets.ts';
import { readTree } from '../methods/tidy/tree.ts';
import { type Ground, openGround } from './page-ground.ts';
import { openServerWorld } from './page-world.ts';

let ground: Ground;
beforeAll(async () => {
  ground = await openGround();
});
afterAll(() => ground?.close());

const blocks = snippetsIn(readTree()).filter(needsServer);

test.each(blocks)('$page:$line', async (block) => {
  await ground.reset(block.code);
  const before = await ground.look();
  await play(block, await openServerWorld(block, ground));
  expect((await ground.look()) !== before).toBe(WRITING.some(isAt(block)));
});
