/** Two holders of one lock, and every order in which their steps can come. */
import { isLockError } from '../base/errors.ts';
import type { FencingToken } from '../contract/token.ts';

/** The number, as a holder uses it. */
export interface FencedNumber {
  read(): Promise<number>;
  /** Checks and writes in one step. */
  write(value: number): Promise<void>;
}

/** A number that a lock guards, with its fence; 0 at first. */
export interface FenceFixture {
  /** Raises the fence, or rejects with `StaleTokenError`. */
  enter(lease: FencingToken): Promise<FencedNumber>;
  adopt(lease: FencingToken): Promise<unknown>;
  /** Reads the number past the fence. */
  look(): Promise<number>;
  close?(): Promise<void>;
}

/** Enters; reads; writes one more than it read; or enters only now, and writes. */
export type FenceStep = 'enter' | 'read' | 'write' | 'enter and write';

export interface Tally {
  readonly orders: number;
  /** Updates that were accepted. */
  readonly written: number;
  /** Updates that were accepted and then overwritten. */
  readonly lost: number;
  /** Orders in which at least one was lost. */
  readonly inOrders: number;
}

interface FenceHolder {
  readonly steps: readonly FenceStep[];
  readonly lease: FencingToken;
}

/**
 * Plays all orders on one number, which only grows.
 * @param pair the older one first; the same two for each order, with new tokens.
 */
export async function inEveryOrder(
  fixture: FenceFixture,
  pair: (n: number) => readonly [FenceHolder, FenceHolder],
): Promise<Tally> {
  const [older, newer] = pair(0);
  const tally = { orders: 0, written: 0, lost: 0, inOrders: 0 };
  for (const order of orders(older.steps.length, newer.steps.length)) {
    const holders = pair(tally.orders).map((holder) => new Player(fixture, holder));
    const before = await fixture.look();
    for (const who of order) await holders[who]?.step();
    const written = holders.reduce((sum, holder) => sum + holder.written, 0);
    const lost = written - ((await fixture.look()) - before);
    tally.orders++;
    tally.written += written;
    tally.lost += lost;
    tally.inOrders += lost > 0 ? 1 : 0;
  }
  return tally;
}

/** All ways to put this many zeros and ones in a row. */
function orders(zeros: number, ones: number): number[][] {
  if (zeros === 0 || ones === 0) return [[...Array(zeros).fill(0), ...Array(ones).fill(1)]];
  return [
    ...orders(zeros - 1, ones).map((rest) => [0, ...rest]),
    ...orders(zeros, ones - 1).map((rest) => [1, ...rest]),
  ];
}

/** Takes its steps until the fence refuses it. */
class Player {
  readonly #fixture: FenceFixture;
  readonly #lease: FencingToken;
  readonly #steps: FenceStep[];
  #entry: FencedNumber | undefined;
  #value = 0;
  #stopped = false;
  written = 0;

  constructor(fixture: FenceFixture, { lease, steps }: FenceHolder) {
    this.#fixture = fixture;
    this.#lease = lease;
    this.#steps = [...steps];
  }

  async step(): Promise<void> {
    const step = this.#steps.shift();
    if (step === undefined || this.#stopped) return;
    try {
      await this.#take(step);
    } catch (error) {
      if (!isLockError(error, 'STALE_TOKEN')) throw error;
      this.#stopped = true;
    }
  }

  async #take(step: FenceStep): Promise<void> {
    const { enter, look } = this.#fixture;
    if (step === 'read') {
      this.#value = this.#entry ? await this.#entry.read() : await look();
      return;
    }
    if (step === 'enter') {
      this.#entry = await enter(this.#lease);
      return;
    }
    const entry = step === 'write' ? this.#entry : await enter(this.#lease);
    await entry?.write(this.#value + 1);
    this.written++;
  }
}
