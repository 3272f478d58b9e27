/** A server that answers garbage: every outcome is a reply or a typed error, and none is a hang. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { packages } from './packages.ts';

/** Answers of garbage, through all packages together. */
const REPLIES = 20_000;
const EACH = REPLIES / packages.length;
/** Half a minute on a quiet machine. */
const TIMEOUT_MS = 240_000;

/**
 * The parsers of ioredis throw past everybody at some of it: at an answer to nothing that is null,
 * at an array of absurd length. That ends any program that uses ioredis, and a client of it cannot
 * help that.
 */
const THROWN_BY_IOREDIS = /^\w+: .*\n\s+at .*\/node_modules\/(?:ioredis5?|redis-parser)\//;

interface Report {
  readonly given: number;
  readonly replies: number;
  readonly failed: number;
  readonly unknown: number;
  readonly wrong: readonly string[];
  readonly uncaught: readonly string[];
  readonly left: number;
}

test.concurrent.each(packages)(
  '$name: garbage is told as such',
  async ({ name }) => {
    const seed = Math.floor(Math.random() * 2 ** 31);
    const sources = join(import.meta.dirname, '../../scripts/sources.mjs');
    const program = join(import.meta.dirname, 'garbage-client.ts');
    const args = ['--import', sources, program, name, `${seed}`, `${EACH}`];
    const { stdout } = await promisify(execFile)(process.execPath, args, { timeout: TIMEOUT_MS });
    const { given, uncaught, ...report } = JSON.parse(stdout) as Report;
    console.log(`${name}: seed ${seed}, ${given} answers`, report, `${uncaught.length} thrown`);
    expect(report).toMatchObject({ wrong: [], left: 0 });
    expect(given).toBeGreaterThanOrEqual(EACH);
    // The garbage was neither all refused nor all taken.
    expect(Math.min(report.replies, report.failed, report.unknown)).toBeGreaterThan(EACH / 100);
    const known = name.startsWith('ioredis') ? THROWN_BY_IOREDIS : /^never/;
    expect(uncaught.filter((error) => !known.test(error))).toEqual([]);
  },
  TIMEOUT_MS,
);
