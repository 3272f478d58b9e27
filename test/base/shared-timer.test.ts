import { expect, test } from 'vitest';
import { Answer } from '../../src/base/answer.ts';
import { SharedTimer } from '../../src/base/shared-timer.ts';
import { FakeClock } from '../support/fake-clock.ts';

interface Scene {
  readonly clock: FakeClock;
  readonly timer: SharedTimer;
  readonly late: string[];
  /** A limit in so many ms. */
  readonly add: (name: string, ms: number) => ReturnType<SharedTimer['add']>;
}

function scene(keepsAlive = false): Scene {
  const clock = new FakeClock();
  const timer = new SharedTimer(clock, keepsAlive);
  const late: string[] = [];
  const add: Scene['add'] = (name, ms) => timer.add(clock.now() + ms, () => void late.push(name));
  return { clock, timer, late, add };
}

test('one timer serves all, and each is late in its own time', async () => {
  const { clock, late, add } = scene();
  for (const [i, name] of ['a', 'b', 'c'].entries()) add(name, 10 + i);
  add('soon', 5);
  add('never', Number.POSITIVE_INFINITY);
  expect(clock.timers).toBe(1);
  const seen: string[] = [];
  for (const ms of [4, 1, 5, 1, 1]) {
    await clock.advance(ms);
    seen.push(late.splice(0).join());
  }
  expect(seen).toEqual(['', 'soon', 'a', 'b', 'c']);
  expect(clock.timers).toBe(0);
});

test('what ends in time is not late, and sets no timer', async () => {
  const { clock, timer, late, add } = scene();
  const first = add('first', 10);
  await clock.advance(5);
  timer.delete(first);
  const answers = [new Answer<number>(), new Answer<number>()];
  const limited = answers.map((answer, i) => {
    return timer.limit(answer, clock.now() + 10, () => void late.push(`answer ${i}`));
  });
  answers[0]?.settle(1);
  expect(await limited[0]).toBe(1);
  expect(clock.timers).toBe(1);
  await clock.advance(10);
  expect(late).toEqual(['answer 1']);
});

test('what has arrived by then is read before anything counts as late', async () => {
  const { clock, timer, late, add } = scene();
  clock.setTimeout(() => clock.setImmediate(() => timer.delete(limit)), 10);
  const limit = add('read', 10);
  add('late', 10);
  await clock.advance(10);
  expect(late).toEqual(['late']);
});

test('what ends because something else is late is not late', async () => {
  const { clock, timer, late, add } = scene();
  timer.add(clock.now() + 10, () => timer.delete(second));
  const second = add('second', 10);
  await clock.advance(10);
  expect(late).toEqual([]);
});

test('it keeps the process alive as long as a limit is open, if it shall', () => {
  const { clock, timer, add } = scene(true);
  const [first, second] = [add('first', 10), add('second', 20)];
  timer.delete(first);
  expect(clock.keepingAlive).toBe(1);
  timer.delete(second);
  expect([clock.timers, clock.keepingAlive]).toEqual([1, 0]);
  add('third', 20);
  expect([clock.timers, clock.keepingAlive]).toEqual([1, 1]);
  const other = scene();
  other.add('first', 10);
  expect([other.clock.timers, other.clock.keepingAlive]).toEqual([1, 0]);
});

test('it leaves a timer behind only for what is open', () => {
  const { clock, timer, add } = scene();
  const limit = add('open', 10);
  timer.close();
  expect(clock.timers).toBe(1);
  timer.delete(limit);
  timer.close();
  expect(clock.timers).toBe(0);
});
