import type { FencingToken } from '../contract/token.ts';

/** What a holder does at the resource. */
export interface FencedNumber {
  read(): Promise<number>;
  /** One step with the check. */
  write(value: number): Promise<void>;
}

/** A number that a lock guards, with its fence; 0 at first. */
export interface FenceFixture {
  /** Raises the fence, or rejects with `StaleTokenError`. */
  enter(lease: FencingToken): Promise<FencedNumber>;
  adopt(lease: FencingToken): Promise<unknown>;
  /** What is there, past the fence. */
  look(): Promise<number>;
  close?(): Promise<void>;
}
