import { createLocks, systemClock, type TimeSources } from 'holdfast';
import { memoryStore } from 'holdfast/memory';
import { describe, expect, it, vi } from 'vitest';

/** A machine whose clocks the test moves. */
class Machine implements TimeSources {
  monotonic = 5_000;
  wall = 1_700_000_000_000;
  boot = 9_000;
  looks = 0;

  monotonicMs = (): number => this.monotonic;
  wallMs = (): number => this.wall;

  bootMs = (): number => {
    this.looks++;
    // Boot time comes in steps of 10 ms.
    return Math.floor(this.boot / 10) * 10;
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
    expect(lease.held).toBe(false);
    expect(lease.loss?.reason).toBe('stalled');
    await locks.close({ drain: 0 });
  });
});
