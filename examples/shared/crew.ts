/**
 * Processes that work for an example and report to it.
 *
 * None outlives this one: whatever way it ends, it kills those that it has started; if it is killed
 * itself, their channel to it closes and they end of their own accord. One that is stopped cannot,
 * so the others know of it and wake it up before they end.
 */
import { type ChildProcess, fork, type Serializable } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import type { Stopped } from './member.ts';

/** Longest wait for a condition, in ms: far more than a slow machine needs, to find a hang. */
export const PATIENCE_MS = 60_000;

const running = new Set<ChildProcess>();

export function killAll(): void {
  for (const child of running) child.kill('SIGKILL');
}

/** Members have names, take orders and send reports. */
export class Crew<Order extends Serializable, Report> {
  readonly #module: string;
  readonly #hear: (name: string, report: Report) => void;
  readonly #members = new Map<string, ChildProcess>();
  readonly #killed = new WeakSet<ChildProcess>();
  readonly #looks = new Set<() => void>();
  #failure: Error | undefined;

  constructor(module: URL, hear: (name: string, report: Report) => void) {
    this.#module = fileURLToPath(module);
    this.#hear = hear;
  }

  /** How many are still there. */
  get size(): number {
    return this.#members.size;
  }

  /** Starts one and answers its pid. */
  start(name: string, plan: object): number {
    const child = fork(this.#module, [JSON.stringify(plan)], { serialization: 'advanced' });
    running.add(child);
    this.#members.set(name, child);
    child.on('message', (report) => {
      this.#hear(name, report as Report);
      this.look();
    });
    child.once('error', (error) => this.#fail(error));
    child.once('exit', (code, signal) => {
      running.delete(child);
      if (code !== 0 && !this.#killed.has(child)) {
        this.#fail(new Error(`${name} ended unexpectedly: ${code ?? signal}.`));
      }
      const leave = (): void => {
        // Another one may have its name by now.
        if (this.#members.get(name) === child) this.#members.delete(name);
        this.look();
      };
      // Its last reports may still be on their way.
      if (child.connected) child.once('disconnect', leave);
      else leave();
    });
    return child.pid ?? 0;
  }

  order(name: string, order: Order): void {
    this.#members.get(name)?.send(order);
  }

  orderAll(order: Order): void {
    for (const name of this.#members.keys()) this.order(name, order);
  }

  signal(name: string, signal: NodeJS.Signals): void {
    const child = this.#members.get(name);
    if (!child) return;
    if (signal === 'SIGKILL') this.#killed.add(child);
    if (signal === 'SIGSTOP') {
      const stopped: Stopped = { stopped: child.pid ?? 0 };
      for (const other of this.#members.values()) if (other !== child) other.send(stopped);
    }
    child.kill(signal);
  }

  /** Looks whether what is waited for has come true; reports do that by themselves. */
  look(): void {
    for (const look of [...this.#looks]) look();
  }

  /** Waits; rejects if a member fails or if it takes too long. */
  async until(what: string, condition: () => boolean): Promise<void> {
    if (await this.within(PATIENCE_MS, condition)) return;
    throw new Error(`Waited for ${PATIENCE_MS / 1000} s until ${what}.`);
  }

  /** True when the condition holds, false after this long; rejects if a member fails. */
  within(ms: number, condition: () => boolean): Promise<boolean> {
    return new Promise((resolve, reject) => {
      const settle = (act: () => void): void => {
        clearTimeout(timer);
        this.#looks.delete(look);
        act();
      };
      const look = (): void => {
        const failure = this.#failure;
        if (failure) settle(() => reject(failure));
        else if (condition()) settle(() => resolve(true));
      };
      const timer = setTimeout(() => settle(() => resolve(false)), ms);
      this.#looks.add(look);
      look();
    });
  }

  #fail(error: Error): void {
    this.#failure ??= error;
    this.look();
  }
}
