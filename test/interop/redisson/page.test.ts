/** What the guide shows in Go is compiled with the programs that the tests start. */
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

const ROOT = new URL('../../..', import.meta.url);
const PROGRAMS = 'test/methods/sharing/programs/go';

function linesOf(path: string): string[] {
  const text = readFileSync(new URL(path, ROOT), 'utf8');
  return text.split('\n').map((line) => line.trim());
}

it.each([
  ['redsync.New', 'redis'],
  ['LeaderElectionConfig', 'kubernetes'],
])('with %s', (word, program) => {
  const page = linesOf('docs/guide/sharing-locks.md').join('\n');
  const blocks = page.split('```go\n').slice(1);
  const shown = blocks
    .map((block) => block.split('\n```')[0])
    .find((block) => block?.includes(word));
  expect(shown).toBeDefined();
  expect(linesOf(`${PROGRAMS}/${program}/main.go`).join('\n')).toContain(shown);
});
