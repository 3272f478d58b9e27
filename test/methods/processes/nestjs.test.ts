/**
 * The application of test/integrations/nestjs as users run it: compiled to CommonJS, with the
 * package as it is built, in a process of its own.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { compileDecorated } from '../../support/load-decorated.ts';
import { builtPackage } from '../../support/program-of.ts';
import { refuses } from '../../support/refuses.ts';

const MODULES = fileURLToPath(new URL('../../../node_modules', import.meta.url));

/** Prints its address; a request waits until the standard input says so. */
const MAIN = `
require('reflect-metadata');
const { NestFactory } = require('@nestjs/core');
const { AppModule } = require('./shop');
const { Warehouse } = require('./warehouse');
(async () => {
  const app = await NestFactory.create(AppModule, { logger: false });
  app.enableShutdownHooks(['SIGTERM']);
  process.once('SIGUSR2', () => app.close());
  const warehouse = app.get(Warehouse);
  warehouse.open = new Promise((resolve) => process.stdin.once('data', resolve));
  warehouse.entered = () => console.log('entered');
  await app.listen(0, '127.0.0.1');
  console.log(await app.getUrl());
})();
`;

let folder: string;
let child: ChildProcess | undefined;

beforeEach(() => {
  // Beside the package that was built, so that it is found.
  folder = mkdtempSync(join(builtPackage(), '../../..', 'nestjs-'));
  for (const name of ['shop', 'warehouse']) {
    const file = new URL(`../../integrations/nestjs/app/${name}.ts`, import.meta.url);
    writeFileSync(join(folder, `${name}.js`), compileDecorated(file, 'legacy'));
  }
  writeFileSync(join(folder, 'main.js'), MAIN);
  writeFileSync(join(folder, 'package.json'), '{ "type": "commonjs" }');
});

afterEach(() => {
  child?.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
});

it.each<[NodeJS.Signals, unknown[]]>([
  // NestJS sends itself the signal again when everything is closed.
  ['SIGTERM', [null, 'SIGTERM']],
  // It is told to close, and to do nothing else: nothing keeps the process alive.
  ['SIGUSR2', [0, null]],
])('shuts down at %s when work in flight is done, and its process ends', async (signal, end) => {
  const env = { ...process.env, NODE_PATH: MODULES, LOCKS: `sqlite:${join(folder, 'locks.db')}` };
  const started = spawn(process.execPath, ['main.js'], { cwd: folder, env });
  child = started;
  let output = '';
  let complaints = '';
  started.stdout.on('data', (text) => (output += text));
  started.stderr.on('data', (text) => (complaints += text));
  const exited = once(started, 'exit');
  await expect.poll(() => output + complaints).toMatch(/^http:.*\n/);

  const [url = ''] = output.split('\n');
  // A connection that is kept for the next request would keep the process alive for seconds.
  const post = { method: 'POST', headers: { connection: 'close' } };
  const answers = ['a', 'a'].map((id) => fetch(`${url}/orders/${id}/ship`, post));
  // If this test fails, the process is killed, and they have no answer.
  for (const answer of answers) answer.catch(() => {});
  await expect.poll(() => output).toContain('entered');
  started.kill(signal);
  await expect.poll(() => refuses(url)).toBe(true);
  started.stdin.end('go on\n');

  const texts = await Promise.all(answers.map(async (answer) => (await answer).text()));
  expect(texts).toEqual(['sent a', 'sent a']);
  expect(await exited).toEqual(end);
  expect(complaints).toBe('');
});
