import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { manifest, missingOnPage } from '../../scripts/package/manifest.ts';

it('is published only with a page whose links lead somewhere', async () => {
  const page = { repository: 'a', homepage: 'b', bugs: 'c' };
  expect(missingOnPage(page)).toEqual([]);
  expect(missingOnPage({ homepage: 'b' })).toEqual(['repository', 'bugs']);
  const lacks = missingOnPage(await manifest());
  const { status, stderr } = spawnSync('npm', ['run', 'prepublishOnly'], { encoding: 'utf8' });
  expect(status).toBe(lacks.length > 0 ? 1 : 0);
  for (const name of lacks) expect(stderr).toContain(name);
}, 60_000);
