import type { Traits } from '../../contract/store.ts';

export const TRAITS: Traits = {
  queue: true,
  permits: true,
  tokens: 'counter',
  atomicTry: true,
  clock: 'process',
  reach: 'process',
  records: true,
  synchronous: true,
  sequential: true,
  hintsGrant: true,
};
