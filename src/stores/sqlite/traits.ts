import type { Traits } from '../../contract/store.ts';

export const TRAITS: Traits = {
  queue: true,
  permits: true,
  tokens: 'machine-clock',
  atomicTry: true,
  clock: 'machine',
  reach: 'machine',
  records: true,
  synchronous: true,
  sequential: true,
  hintsGrant: true,
};
