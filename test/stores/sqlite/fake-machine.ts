import type { Machine } from '../../../src/clients/sqlite/machine.ts';

/** A machine that can be rebooted; one without a boot id has to guess. */
export class FakeMachine implements Machine {
  boot: string;
  timeSpace = 'time:[1]';
  #now = 3_600_000_000;
  #wall: number;

  constructor(boot: string, wall: number = Date.now() * 1000) {
    this.boot = boot;
    this.#wall = wall;
  }

  pass(us: number): void {
    this.#now += us;
    this.#wall += us;
  }

  stepWallClock(us: number): void {
    this.#wall += us;
  }

  reboot(upUs: number, boot: string = this.boot): void {
    this.#now = upUs;
    this.boot = boot;
  }

  nowUs(): number {
    this.pass(1);
    return this.#now;
  }

  wallUs(): number {
    return this.#wall;
  }

  bootedUs(): number {
    return this.#wall - this.#now;
  }

  identity(): { boot: string; timeSpace: string } {
    return { boot: this.boot, timeSpace: this.timeSpace };
  }
}
