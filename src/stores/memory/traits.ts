import type { Traits } from '../../contract/store.ts';

export const TRAITS: Traits = {
  queue: true,
  permits: true,
  tokens: 'counter',
  atomicTry: true,
  liveness: 'ttl',
  clock: 'process',
  failover: 'none',
  reach: 'process',
  records: true,
  ttlStepMs: 1,
  synchronous: true,
  sequential: true,
  hintsGrant: true,
};
