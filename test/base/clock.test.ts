import { createLocks, systemClock, type TimeSources } from 'holdfast';
import { memoryStore } from 'holdfast/memory';
import { describe, expect, it, vi } from 'vitest';
import { sleep } from '../../src/base/clock.ts';
import { FakeClock } from '../support/fake-clock.ts';

/** A machine whose clocks the test moves. */
class Machine implements TimeSources {
  monotonic = 5_000;
  wall = 1_700_000_000_000;
  boot = 9_010;
  looks = 0;
  /** Boot time comes in steps. */
  step = 10;

  monotonicMs = (): number => this.monotonic;
  wallMs = (): number => this.wall;

  bootMs = (): number => {
    this.looks++;
    return Math.floor(this.boot / this.step) * this.step;
  };

  run(ms: number): void {
    this.monotonic += ms;
    this.wall += ms;
    this.boot += ms;
  }

  suspend(ms: number): void {
    this.wall += ms;
    this.boot += ms;
  }

  /** As the host of a virtual machine does, which sets only the wall clock right. */
  stop(ms: number): void {
    this.wall += ms;
  }
}

describe('the system clock', () => {
  it('goes with the monotonic clock', () => {
    const machine = new Machine();
    const { now } = systemClock(machine);
    const start = now();
    for (let i = 0; i < 1_000; i++) {
      machine.run(17.3);
      expect(now() - start).toBeCloseTo((i + 1) * 17.3, 6);
    }
    expect(machine.looks, 'asks for boot time only at the start').toBe(1);
  });

  it('counts time in which the machine was suspended', () => {
    const machine = new Machine();
    const { now } = systemClock(machine);
    const start = now();
    machine.run(1_000);
    machine.suspend(3_600_000);
    machine.run(1_000);
    expect(now() - start).toBeGreaterThanOrEqual(3_602_000 - 10);
    expect(now() - start).toBeLessThanOrEqual(3_602_000 + 10);
    machine.suspend(5_000);
    expect(now() - start).toBeGreaterThanOrEqual(3_607_000 - 20);
  });

  it('counts it even if the wall clock was stepped on resume, unless by just as much', () => {
    const machine = new Machine();
    const { now } = systemClock(machine);
    const start = now();
    machine.suspend(60_000);
    machine.wall -= 3_600_000;
    expect(now() - start).toBeGreaterThanOrEqual(60_000 - 10);
  });

  for (const step of [-86_400_000, -60_000, -25, 25, 60_000, 86_400_000]) {
    it(`does not mind a step of the wall clock by ${step} ms`, () => {
      const machine = new Machine();
      const { now } = systemClock(machine);
      const start = now();
      for (let i = 1; i <= 20; i++) {
        machine.run(100);
        machine.wall += step;
        expect(now() - start).toBeCloseTo(i * 100, 6);
      }
      expect(machine.looks).toBe(21);
    });
  }

  it('does not mind a wall clock that is slewed', () => {
    const machine = new Machine();
    const { now } = systemClock(machine);
    const start = now();
    for (let i = 0; i < 100_000; i++) {
      machine.run(10);
      machine.wall += 0.005;
    }
    expect(now() - start).toBeCloseTo(1_000_000, 3);
  });

  it('does not mind a slewed wall clock where boot time counts whole seconds', () => {
    const machine = new Machine();
    machine.step = 1000;
    const { now } = systemClock(machine);
    const start = now();
    for (let i = 1; i <= 100_000; i++) {
      machine.run(97.3);
      machine.wall += 0.01;
      expect(now() - start).toBeCloseTo(i * 97.3, 3);
    }
    expect(machine.looks).toBeGreaterThan(40);
  });

  it('counts the whole time asleep, and little more, where boot time counts whole seconds', () => {
    for (let part = 0; part < 1000; part += 50) {
      const machine = new Machine();
      machine.step = 1000;
      machine.boot += part;
      const { now } = systemClock(machine);
      const start = now();
      machine.run(part * 7);
      machine.suspend(60_000);
      const passed = now() - start - part * 7;
      expect(passed).toBeGreaterThanOrEqual(60_000);
      expect(passed).toBeLessThanOrEqual(62_000);
    }
  });

  it('tells when the wall clock alone ran ahead, for it may have stood still', () => {
    const machine = new Machine();
    const { now, onJump } = systemClock(machine);
    const jumps: number[] = [];
    const stop = onJump?.((at) => jumps.push(at));
    machine.run(1_000);
    machine.suspend(60_000);
    machine.wall -= 3_600_000;
    now();
    expect(jumps).toEqual([]);
    machine.stop(60_000);
    const at = now();
    expect(jumps).toEqual([at]);
    expect(now()).toBe(at);
    stop?.();
    machine.stop(60_000);
    now();
    expect(jumps).toHaveLength(1);
  });

  it('never goes back', () => {
    const machine = new Machine();
    const { now } = systemClock(machine);
    let before = now();
    for (let i = 0; i < 1_000; i++) {
      const chance = (i * 7_919) % 5;
      if (chance === 0) machine.suspend(i * 3);
      else if (chance === 1) machine.wall -= i * 11;
      else machine.run(i % 13);
      expect(now()).toBeGreaterThanOrEqual(before);
      before = now();
    }
  });

  it('of this machine does not follow its wall clock', () => {
    const { now } = systemClock();
    const start = now();
    const wall = Date.now();
    const spy = vi.spyOn(Date, 'now');
    const passed = [-86_400_000, 86_400_000].map((step) => {
      spy.mockReturnValue(wall + step);
      return now() - start;
    });
    spy.mockRestore();
    // A moment has passed, but no day.
    for (const ms of passed) expect(Math.abs(ms)).toBeLessThan(43_200_000);
  });

  it('lets a lease die in a suspended machine', async () => {
    const machine = new Machine();
    const locks = createLocks(memoryStore(), { clock: systemClock(machine) });
    const lease = await locks.mutex('a').acquire();
    machine.wall += 3_600_000;
    expect(lease.held, 'a step alone changes nothing').toBe(true);
    machine.suspend(11_000);
    expect([lease.held, lease.loss?.reason]).toEqual([false, 'stalled']);
    await locks.close({ drain: 0 });
  });

  /** A lease whose machine was stopped together with its clocks for so long. */
  async function stoppedFor(ms: number) {
    const machine = new Machine();
    const clock = systemClock(machine);
    const store = memoryStore({ clock: { ...clock, now: () => machine.wall } });
    const locks = createLocks(store, { clock, ttl: '10s' });
    const doubts: unknown[] = [];
    locks.on('unconfirmed', ({ cause }) => doubts.push(cause));
    const lease = await locks.mutex('a').acquire();
    machine.run(1);
    machine.stop(ms);
    return { locks, lease, doubts };
  }

  const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

  it('puts a lease in doubt when the machine was stopped with its clocks, and asks', async () => {
    const { locks, lease, doubts } = await stoppedFor(11_000);
    expect([lease.held, lease.state]).toEqual([true, 'unconfirmed']);
    await turn();
    expect(doubts).toEqual([undefined]);
    expect([lease.held, lease.state, lease.loss?.reason]).toEqual([false, 'lost', 'expired']);
    await locks.close({ drain: 0 });
  });

  it('ends the doubt when the store still has the claim', async () => {
    const { locks, lease } = await stoppedFor(5_000);
    expect(lease.state).toBe('unconfirmed');
    await turn();
    expect(lease.state).toBe('held');
    expect(lease.remainingMs).toBeGreaterThan(9_000);
    await locks.close({ drain: 0 });
  });
});

it('a sleep keeps the process alive unless it is idle, and an abort ends it early', async () => {
  const clock = new FakeClock();
  const aborter = new AbortController();
  const slept = [false, true].map((idle) => sleep(clock, 100, aborter.signal, idle));
  expect([clock.timers, clock.keepingAlive]).toEqual([2, 1]);
  aborter.abort();
  await Promise.all([...slept, clock.rest()]);
  expect(clock.timers).toBe(0);
  void sleep(clock, 100);
  expect(clock.keepingAlive).toBe(1);
});
