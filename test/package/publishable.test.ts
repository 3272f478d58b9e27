import { spawnSync } from 'node:child_process';
import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { manifest, missingOnPage } from '../../scripts/package/manifest.ts';
import { directory } from '../support/directory.ts';

it('is published only with a page whose links lead somewhere', async () => {
  expect(missingOnPage({ repository: 'a', homepage: 'b', bugs: 'c' })).toEqual([]);
  expect(missingOnPage({ homepage: 'b' })).toEqual(['repository', 'bugs']);
  const lacks = missingOnPage(await manifest());
  const { status, stderr } = spawnSync('npm', ['run', 'prepublishOnly'], { encoding: 'utf8' });
  expect(status).toBe(lacks.length > 0 ? 1 : 0);
  for (const name of lacks) expect(stderr).toContain(name);
}, 60_000);

/** What a release of these fields says, in a folder where it could publish nothing else. */
function released(tag: string, fields: object): string {
  const folder = directory();
  cpSync('.ci', join(folder, '.ci'), { recursive: true });
  const text = JSON.stringify({ version: '1.2.3', private: true, ...fields });
  writeFileSync(join(folder, 'package.json'), text);
  writeFileSync(join(folder, 'CHANGELOG.md'), '## [1.2.2]\n');
  const { status, stderr } = spawnSync(join(folder, '.ci/release'), [tag], { encoding: 'utf8' });
  expect(status).toBe(1);
  return stderr;
}

it('is released only by its tag, with its changes, from a repository that is named', () => {
  const repository = { type: 'git', url: 'git+https://host.invalid/a/b.git' };
  expect(released('v1.2.3', {})).toMatch(/package.json has no repository\. Fill it in/);
  expect(released('v1.2.4', { repository })).toMatch(/tag is v1\.2\.4, and the version is 1\.2\.3/);
  expect(released('v1.2.3', { repository })).toMatch(/CHANGELOG\.md has no heading for 1\.2\.3/);
});
