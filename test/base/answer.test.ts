import { expect, onTestFinished, test } from 'vitest';
import { Answer, follow } from '../../src/base/answer.ts';

/** What a listener hears, in order, with its name. */
class Heard {
  readonly all: string[] = [];

  listen(answer: Answer<number>, name: string): void {
    answer.on({
      settle: (value) => void this.all.push(`${name}: ${value}`),
      fail: (error) => void this.all.push(`${name}: ${(error as Error).message}`),
    });
  }
}

function failed(why: string): Answer<number> {
  return Answer.of((): number => {
    throw new Error(why);
  });
}

test('all hear the first outcome at once, in the order in which they came', () => {
  const [answer, heard] = [new Answer<number>(), new Heard()];
  for (const name of ['a', 'b', 'c']) heard.listen(answer, name);
  expect(heard.all).toEqual([]);
  answer.settle(1);
  answer.settle(2);
  answer.fail(new Error('late'));
  heard.listen(answer, 'd');
  expect(heard.all).toEqual(['a: 1', 'b: 1', 'c: 1', 'd: 1']);
});

test('a failure is heard in the same way', () => {
  const [answer, heard] = [new Answer<number>(), new Heard()];
  for (const name of ['a', 'b']) heard.listen(answer, name);
  answer.fail(new Error('broken'));
  heard.listen(answer, 'c');
  expect(heard.all).toEqual(['a: broken', 'b: broken', 'c: broken']);
});

test('several may await one', async () => {
  const answer = new Answer<number>();
  const waits = [answer.then((value) => value + 1), answer.then(), answer.finally()];
  answer.settle(1);
  expect(await Promise.all(waits)).toEqual([2, 1, 1]);
});

test('steps that need not wait are over at once', () => {
  const heard = new Heard();
  const steps = Answer.of(() => 1)
    .chain((value) => value + 1)
    .chain((value) => Answer.of(() => value + 1))
    .map((value) => value + 1);
  heard.listen(steps, 'steps');
  heard.listen(
    failed('broken').or(() => 5),
    'recovered',
  );
  expect(heard.all).toEqual(['steps: 4', 'recovered: 5']);
});

test('a step may lead to a promise', async () => {
  expect(await Answer.of(() => Promise.resolve(1)).chain(async (value) => value + 1)).toBe(2);
  expect(await failed('broken').or(async () => 3)).toBe(3);
  await expect(Answer.of(() => Promise.reject(new Error('late')))).rejects.toThrow('late');
});

test('what a step throws fails what comes of it, and not who settles', async () => {
  const answer = new Answer<number>();
  const thrower = (): number => {
    throw new Error('thrown');
  };
  const all = [answer.map(thrower), answer.chain(thrower), failed('broken').or(thrower)];
  answer.settle(1);
  const outcomes = await Promise.allSettled(all);
  expect(outcomes.map((one) => one.status === 'rejected' && String(one.reason))).toEqual(
    Array(3).fill('Error: thrown'),
  );
});

test('of several, none is left behind when one fails', async () => {
  const [one, two, heard] = [new Answer<number>(), new Answer<number>(), new Heard()];
  const all = Answer.all([one, two]);
  heard.listen(
    all.map((values) => values.length),
    'all',
  );
  one.fail(new Error('broken'));
  expect(heard.all).toEqual([]);
  two.settle(2);
  expect(heard.all).toEqual(['all: broken']);
  expect(await Answer.all([Answer.of(() => 1), Answer.of(async () => 2)])).toEqual([1, 2]);
  expect(await Answer.all([])).toEqual([]);
});

test('a failure that nobody hears soon is reported, and no other', async () => {
  const before = process.listeners('unhandledRejection');
  process.removeAllListeners('unhandledRejection');
  onTestFinished(() => {
    process.removeAllListeners('unhandledRejection');
    for (const each of before) {
      process.on('unhandledRejection', each as NodeJS.UnhandledRejectionListener);
    }
  });
  const reported: string[] = [];
  process.on('unhandledRejection', (error) => void reported.push((error as Error).message));
  new Heard().listen(failed('heard'), 'one');
  failed('caught').catch(() => {});
  void failed('recovered').or(() => 1);
  void failed('unheard');
  void failed('passed on').map((value) => value);
  await new Promise((resolve) => setImmediate(resolve));
  expect(reported).toEqual(['unheard', 'passed on']);
});

test('it is a promise to those who look, and can be made of one', async () => {
  const answer = Answer.from(Promise.resolve(1));
  expect(Object.prototype.toString.call(answer)).toBe('[object Answer]');
  expect(await answer).toBe(1);
  expect(await answer.or(() => 2)).toBe(1);
  expect(follow(1, (value) => value + 1)).toBe(2);
  expect(await follow(Promise.resolve(1), (value) => value + 1)).toBe(2);
});
