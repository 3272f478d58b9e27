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
