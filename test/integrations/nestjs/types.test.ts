/** All that is here, and what `locked` is on, with the decorators that NestJS is compiled with. */
import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

/** The compiler takes a core for seconds, beside everything else that runs. */
const TIMEOUT_MS = 120_000;

test('types fit decorators of TypeScript', { timeout: TIMEOUT_MS }, async () => {
  const tsc = createRequire(import.meta.url).resolve('typescript/bin/tsc');
  const project = fileURLToPath(new URL('tsconfig.json', import.meta.url));
  const compiled = promisify(execFile)(process.execPath, [tsc, '-p', project, '--listFiles']);
  const { stdout } = await compiled.catch((error: { stdout: string }) => error);
  const said = stdout.split('\n');
  expect(said.filter((line) => /^test.*: error TS/.test(line))).toEqual([]);
  for (const file of ['nestjs/app/shop.ts', 'nestjs/nestjs.test.ts', 'decorator/types.ts']) {
    expect(said.some((line) => line.endsWith(file))).toBe(true);
  }
});
