import type { Traits } from '../../contract/store.ts';

export const TRAITS: Traits = {
  queue: true,
  permits: true,
  tokens: 'machine-clock',
  atomicTry: true,
  liveness: 'ttl',
  clock: 'machine',
  failover: 'none',
  reach: 'machine',
  records: true,
  ttlStepMs: 1,
  synchronous: true,
  sequential: true,
  hintsGrant: true,
};
