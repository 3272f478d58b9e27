/**
 * The two checkers agree, and each has teeth: on what correct locks and counters do, and on the
 * same spoilt so that no order of it can be right. Their models are stated in two languages.
 */
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { Courses } from './courses.ts';
import type { History } from './history.ts';
import { checkLinearizability } from './linearizability.ts';
import { counterModel, lockModel } from './models.ts';
import { missingPorcupine, Porcupine } from './porcupine.ts';

const why = await missingPorcupine();
const porcupine = why === undefined ? await Porcupine.start() : undefined;
afterAll(() => porcupine?.close());
beforeEach(({ skip }) => skip(why !== undefined, why));

/** What both of them say, or the one that did not give up. */
async function verdict({ lock, counter }: History): Promise<string> {
  const theirs = await porcupine?.judge({ lock, counter });
  const both = [
    [theirs?.lock.verdict, checkLinearizability(lockModel, lock).verdict],
    [theirs?.counter.verdict, checkLinearizability(counterModel, counter).verdict],
  ].map((said) => [...new Set(said.filter((each) => each !== 'unknown'))]);
  for (const said of both) expect(said.length, said.join(', but ')).toBeLessThan(2);
  const all = both.map(([said = 'unknown']) => said);
  return all.includes('illegal') ? 'illegal' : (all.find((each) => each !== 'legal') ?? 'legal');
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
