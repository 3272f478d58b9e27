/**
 * The two checkers agree, and each has teeth: on what correct locks and counters do, and on the
 * same spoilt so that no order of it can be right. Their models are stated in two languages.
 */
import { afterAll, describe, expect, test } from 'vitest';
import { simulatedClock } from '../../../src/testkit/simulated-clock.ts';
import { AGAIN, seedsOf } from '../../support/this-run.ts';
import { correctOperations } from './correct-operations.ts';
import { CORRUPTIONS } from './corruptions.ts';
import type { History } from './history.ts';
import { checkLinearizability } from './linearizability.ts';
import { counterModel, lockModel } from './models.ts';
import { missingPorcupine, Porcupine } from './porcupine.ts';

const why = await missingPorcupine();
const porcupine = why === undefined ? await Porcupine.start() : undefined;
afterAll(() => porcupine?.close());

const courses = seedsOf(20).flatMap((seed) =>
  (['mutex', 'rw', 'permits'] as const).flatMap((kind) =>
    [0, 0.04].map((unknown) => {
      return { seed, recorded: correctOperations({ seed, kind, unknown, operations: 120 }) };
    }),
  ),
);

/** What both of them say. */
async function verdict(history: History): Promise<string> {
  const theirs = await porcupine?.judge(history);
  const ours = {
    lock: checkLinearizability(lockModel, history.lock).verdict,
    counter: checkLinearizability(counterModel, history.counter).verdict,
  };
  expect({ lock: theirs?.lock.verdict, counter: theirs?.counter.verdict }).toEqual(ours);
  return [ours.lock, ours.counter].find((each) => each !== 'legal') ?? 'legal';
}

describe('our checker and porcupine', () => {
  test('find what correct locks and fences do legal', async ({ skip }) => {
    if (why !== undefined) skip(why);
    for (const { seed, recorded } of courses) {
      expect(await verdict(recorded), `seed ${seed}, ${AGAIN}`).toBe('legal');
    }
  });

  test.each(Object.entries(CORRUPTIONS))('%s: illegal', async (_name, corrupt) => {
    let tried = 0;
    for (const { seed, recorded } of courses) {
      const corrupted = corrupt(recorded, simulatedClock(seed).random);
      if (!corrupted) continue;
      tried++;
      expect(await verdict(corrupted), `seed ${seed}, ${AGAIN}`).toBe('illegal');
    }
    expect(tried).toBeGreaterThan(1);
  });
});
