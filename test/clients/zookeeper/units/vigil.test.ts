import { expect, it } from 'vitest';
import type { ZookeeperLink } from '../../../../src/clients/zookeeper/link.ts';
import { Vigil } from '../../../../src/clients/zookeeper/session/vigil.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

/** A connection as far as time goes. */
class Line {
  readonly pings: number[] = [];
  ended: string | undefined;
  sentAt: number;
  answeredAt: number;
  waitingSince = Number.POSITIVE_INFINITY;
  readonly #clock: FakeClock;

  constructor(clock: FakeClock) {
    this.#clock = clock;
    this.sentAt = clock.now();
    this.answeredAt = clock.now();
  }

  ping(): void {
    this.sentAt = this.#clock.now();
    this.pings.push(this.sentAt);
  }

  end(error: Error): void {
    this.ended = error.message;
  }
}

interface Watched {
  readonly clock: FakeClock;
  readonly vigil: Vigil;
  readonly line: Line;
  readonly expired: readonly number[];
}

function watched({ choice = false, timeoutMs = 3000 } = {}): Watched {
  const clock = new FakeClock();
  const expired: number[] = [];
  const events = { clock, choice, expired: () => void expired.push(clock.now()) };
  const vigil = new Vigil(timeoutMs, clock.now(), events);
  const line = new Line(clock);
  vigil.watch(line as unknown as ZookeeperLink);
  return { clock, vigil, line, expired };
}

it('asks for a sign of life after a twelfth of the timeout, again and again', async () => {
  const { clock, vigil, line, expired } = watched();
  for (let n = 0; n < 50; n += 1) {
    await clock.advance(100);
    const last = line.pings.at(-1);
    if (last === undefined) continue;
    line.answeredAt = clock.now();
    vigil.answered(last);
  }
  expect(line.pings).toEqual(Array.from({ length: 20 }, (_, n) => 1250 + 250 * n));
  expect([line.ended, expired]).toEqual([undefined, []]);
});

it('gives up the connection after a third, and the session after all of it', async () => {
  const { clock, vigil, line, expired } = watched({ timeoutMs: 6000 });
  await clock.advance(1999);
  expect(line.ended).toBeUndefined();
  await clock.advance(1);
  expect(line.ended).toBe('there was no answer for 2000 ms');
  vigil.watch(undefined);
  await clock.advance(3999);
  expect(expired).toEqual([]);
  await clock.advance(1);
  expect([expired, vigil.late]).toEqual([[7000], true]);
});

it('gives up the connection of a short session later, in time for another one', async () => {
  for (const [timeoutMs, silentMs] of [
    [2100, 1000],
    [1200, 800],
  ] as const) {
    const { clock, line } = watched({ timeoutMs });
    await clock.advance(silentMs - 1);
    expect(line.ended).toBeUndefined();
    await clock.advance(1);
    expect(line.ended).toBeDefined();
  }
});

it('waits for an answer for a sixth where there are others, for the only one longer', async () => {
  for (const choice of [true, false]) {
    const { clock, vigil, line } = watched({ choice, timeoutMs: 12_000 });
    line.waitingSince = clock.now();
    // Pings are answered, or events arrive, but the one request is not.
    for (let n = 0; n < 4; n += 1) {
      await clock.advance(499);
      line.answeredAt = clock.now();
      vigil.answered(clock.now());
    }
    expect(line.ended).toBeUndefined();
    // It looks when a ping is due.
    await clock.advance(1000);
    expect(line.ended !== undefined).toBe(choice);
  }
});

it('a server is not called silent in less than a second, however short the session', async () => {
  const { clock, line } = watched({ choice: true, timeoutMs: 4500 });
  line.waitingSince = clock.now();
  await clock.advance(999);
  expect(line.ended).toBeUndefined();
  await clock.advance(1);
  expect(line.ended).toBe('there was no answer for 1000 ms');
});

it('who stood still himself reads what has come before he calls the server silent', async () => {
  const { clock, vigil, line } = watched();
  clock.stall(2500);
  // Input is read when the timers have had their turn.
  clock.setImmediate(() => {
    line.answeredAt = clock.now();
    vigil.answered(clock.now());
  });
  await clock.rest();
  expect(line.ended).toBeUndefined();
});

it('who stood still for the whole timeout has lost the session, whatever has come', async () => {
  const { clock, line, expired } = watched();
  clock.stall(3000);
  await clock.rest();
  expect(expired).toEqual([4000]);
  expect(line.ended).toBeUndefined();
});

it('no longer looks when it is over', async () => {
  const { clock, vigil, line, expired } = watched();
  vigil.end();
  await clock.advance(10_000);
  expect([clock.timers, line.pings, expired]).toEqual([0, [], []]);
});
