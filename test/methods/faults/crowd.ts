/**
 * Tasks on several stores that want the same locks all the time, in one process, where two who
 * believe at once are seen at once.
 */
import { isLockError, type Lease, type Locks } from 'holdfast';
import { expect } from 'vitest';
import { until } from '../../support/until.ts';
import { sleep } from './bed.ts';

export class Crowd {
  /** What must not happen, in words. */
  readonly #violations: string[] = [];
  readonly #grants = new Map<string, number>();
  readonly #last = new Map<string, Lease>();
  readonly #tasks: Promise<void>[];
  readonly #strict: boolean;
  readonly #givenUp = new AbortController();
  #over = false;

  /**
   * One task for each of these locks and resources; they begin at once. `strict`: no wait ends with
   * an error, and all tokens are of one lineage.
   */
  constructor(
    all: readonly Locks[],
    resources: readonly string[],
    { strict = false }: { readonly strict?: boolean } = {},
  ) {
    this.#strict = strict;
    this.#tasks = all.flatMap((locks) => resources.map((name) => this.#work(locks, name)));
  }

  /** Waits until each resource has been granted so many times more. */
  async goesOn(times = 5): Promise<void> {
    const due = [...this.#grants].map(([name, before]) => [name, before + times] as const);
    await until('was each granted again', () =>
      due.every(([name, least]) => (this.#grants.get(name) ?? 0) >= least),
    );
  }

  /** Ends it: none was granted what another held, and tokens grew. */
  async expectOrder(): Promise<void> {
    this.#over = true;
    let ended = false;
    void Promise.allSettled(this.#tasks).then(() => {
      ended = true;
    });
    await until('did all who wait get in', () => ended);
    await this.close();
    expect(this.#violations).toEqual([]);
  }

  /** Who still waits goes. */
  async close(): Promise<void> {
    this.#over = true;
    this.#givenUp.abort();
    await Promise.all(this.#tasks);
  }

  async #work(locks: Locks, name: string): Promise<void> {
    this.#grants.set(name, 0);
    const { signal } = this.#givenUp;
    while (!this.#over) {
      const mutex = locks.mutex(name, { fair: true });
      const lease = await mutex.acquire({ signal }).catch(this.#doubt);
      if (lease) {
        this.#see(name, lease);
        await sleep(Math.random() * 10);
        await lease.release();
      }
      await sleep(Math.random() * 10);
    }
  }

  #see(name: string, lease: Lease): void {
    const last = this.#last.get(name);
    if (last?.held) this.#violations.push(`${name} was granted while it was held`);
    if (last && lease.token <= last.token) {
      this.#violations.push(`a token of ${name} did not grow: ${lease.token} after ${last.token}`);
    }
    if (this.#strict && last && lease.lineage !== last.lineage) {
      this.#violations.push(`${name} has tokens of another lineage: ${lease.lineage}`);
    }
    this.#last.set(name, lease);
    this.#grants.set(name, (this.#grants.get(name) ?? 0) + 1);
  }

  /** A store that does not answer for a TTL is an error, and the program tries again. */
  readonly #doubt = (error: unknown): undefined => {
    if (this.#givenUp.signal.aborted) return;
    if (!isLockError(error, 'STORE')) throw error;
    if (this.#strict) this.#violations.push(String(error));
  };
}
