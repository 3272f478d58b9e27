/** What the guide shows in Java and Go is compiled with the programs that the tests start. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const ROOT = new URL('../../..', import.meta.url);
const PROGRAMS = 'test/methods/sharing/programs';

function linesOf(path: string): string[] {
  const text = readFileSync(new URL(path, ROOT), 'utf8');
  return text.split('\n').map((line) => line.trim());
}

it.each([
  ['java', 'getLock("nightly")', `${PROGRAMS}/RedissonDriver.java`],
  ['go', 'redsync.New', `${PROGRAMS}/go/redis/main.go`],
  ['go', 'LeaderElectionConfig', `${PROGRAMS}/go/kubernetes/main.go`],
])('in %s with %s', (language, word, program) => {
  const page = linesOf('docs/guide/sharing-locks.md').join('\n');
  const blocks = page.split(`\`\`\`${language}\n`).slice(1);
  const shown = blocks
    .map((block) => block.split('\n```')[0])
    .find((block) => block?.includes(word));
  expect(shown).toBeDefined();
  expect(linesOf(program).join('\n')).toContain(shown);
});
