/** The page is compiled with the types of a browser, which the rest of the project must not see. */
import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

test('the types of the page fit', { timeout: 120_000 }, async () => {
  const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');
  const project = fileURLToPath(new URL('../../src/dashboard/ui', import.meta.url));
  const compiled = promisify(execFile)(process.execPath, [tsc, '-p', project, '--listFiles']);
  const { stdout } = await compiled.catch((error: { stdout: string }) => error);
  const said = stdout.split('\n');
  expect(said.filter((line) => /: error TS/.test(line))).toEqual([]);
  expect(said.some((line) => line.endsWith('ui/queue/details.tsx'))).toBe(true);
});
