import type { Claim } from 'holdfast/store';

export interface Question {
  readonly verb: 'claim' | 'renew' | 'release' | 'inspect';
  readonly claims: readonly Claim[];
  readonly afterMs: number;
  readonly resource: string;
}

/** JSON has no large numbers: tokens travel as text. */
export function toJson(value: unknown): string {
  return JSON.stringify(value, (_key, each) => (typeof each === 'bigint' ? `${each}` : each));
}

export function fromJson(json: string): unknown {
  return JSON.parse(json, (key, each) =>
    key === 'token' || key === 'number' ? BigInt(each) : each,
  );
}
