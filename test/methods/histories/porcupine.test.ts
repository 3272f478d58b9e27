/**
 * The two checkers agree, and each has teeth: on what correct locks and counters do, and on the
 * same spoilt so that no order of it can be right. Their models are stated in two languages.
 */
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { missingGo } from '../../servers/go-build.ts';
import { closing } from '../../support/closing.ts';
import { RUN } from '../../support/this-run.ts';
import { correctOperations } from './correct-operations.ts';
import { Courses } from './courses.ts';
import type { History } from './history.ts';
import { checkLinearizability } from './linearizability.ts';
import { counterModel, type LockOperation, lockModel } from './models.ts';
import { PORCUPINE, Porcupine } from './porcupine.ts';

const why = await missingGo(PORCUPINE);
const porcupine = why === undefined ? await Porcupine.start() : undefined;
afterAll(() => porcupine?.close());
beforeEach(({ skip }) => skip(why !== undefined, why));

/** What both of them say; `unknown` if one of them gave up and nothing is illegal for certain. */
async function verdict({ lock, counter }: History): Promise<string> {
  const theirs = await porcupine?.judge({ lock, counter });
  const both = [
    [theirs?.lock.verdict, checkLinearizability(lockModel, lock).verdict],
    [theirs?.counter.verdict, checkLinearizability(counterModel, counter).verdict],
  ];
  for (const said of both) {
    const sure = new Set(said.filter((each) => each !== 'unknown'));
    expect(sure.size, said.join(', but ')).toBeLessThan(2);
  }
  const all = both.map((said) => said.find((each) => each === 'unknown') ?? said[0] ?? 'unknown');
  return all.find((each) => each === 'illegal') ?? all.find((each) => each !== 'legal') ?? 'legal';
}

describe.each([0, 0.04])('our checker and porcupine, %d never return', (unknown) => {
  const courses = new Courses(unknown);

  test('find what correct locks and fences do legal', async () => {
    for (const { where, recorded } of courses.all()) {
      expect(await verdict(recorded), where).toBe('legal');
    }
  });

  test.each(courses.corruptions())('%s: illegal', async (_name, corrupt) => {
    await courses.expectIllegal(corrupt, verdict);
  });
});

test('porcupine gives up after its steps, and begins anew with the next history', async () => {
  const hurried = closing(await Porcupine.start(10));
  const judged = async (lock: readonly LockOperation[]): Promise<string> =>
    (await hurried.judge({ lock, counter: [] })).lock.verdict;
  const { lock } = correctOperations({ seed: RUN, kind: 'mutex', unknown: 0, operations: 120 });
  expect(await judged(lock)).toBe('unknown');
  expect(await judged(lock.slice(0, 1))).toBe('legal');
});
