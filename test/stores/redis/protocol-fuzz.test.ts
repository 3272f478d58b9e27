/** A server that answers garbage: every outcome is a reply or a typed error, and none is a hang. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { AGAIN, HANG_MS, RUN } from '../../support/this-run.ts';
import { answers, GarbageServer } from './garbage-server.ts';
import { packages } from './packages.ts';

/** Answers of garbage, through all packages together. */
const REPLIES = 20_000;
const EACH = REPLIES / packages.length;

/**
 * The parsers of ioredis throw past everybody at some of it: at an answer to nothing that is null,
 * at an array of absurd length. That ends any program that uses ioredis, and a client of it cannot
 * help that.
 */
const THROWN_BY_IOREDIS = /^\w+: .*\n\s+at .*\/node_modules\/(?:ioredis5?|redis-parser)\//;

interface Report {
  readonly replies: number;
  readonly failed: number;
  readonly unknown: number;
  readonly wrong: readonly string[];
  readonly uncaught: readonly string[];
}

test.concurrent.each(packages)('$name: garbage is told as such', async ({ name }) => {
  // At once, for one that hangs tells nothing at its end.
  console.log(`${name}: ${AGAIN}`);
  await using server = await GarbageServer.start(answers(RUN, EACH));
  const { uncaught, ...report } = await clientOf(name, server);
  console.log(`${name}: ${server.given} answers`, report, uncaught.length);
  expect(report.wrong).toEqual([]);
  // The garbage was neither all refused nor all taken.
  expect(Math.min(report.replies, report.failed, report.unknown)).toBeGreaterThan(EACH / 200);
  const known = name.startsWith('ioredis') ? THROWN_BY_IOREDIS : /^never/;
  expect(uncaught.filter((error) => !known.test(error))).toEqual([]);
});

/** Its report, once it has ended by itself: a connection left open would keep it. */
async function clientOf(name: string, server: GarbageServer): Promise<Report> {
  const sources = join(import.meta.dirname, '../../../scripts/sources.mjs');
  const program = join(import.meta.dirname, 'garbage-client.ts');
  const args = ['--import', sources, program, name, `${server.port}`];
  const running = promisify(execFile)(process.execPath, args, { timeout: HANG_MS });
  const stop = setInterval(() => {
    if (server.given >= EACH) running.child.stdin?.end();
  }, 50);
  try {
    return JSON.parse((await running).stdout) as Report;
  } finally {
    clearInterval(stop);
  }
}
