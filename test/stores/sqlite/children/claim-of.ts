import { randomBytes } from 'node:crypto';
import type { Claim } from '../../../../src/contract/store.ts';

export function claimOf(resource: string, over: Partial<Claim> = {}): Claim {
  return {
    ...{ resource, id: randomBytes(16).toString('hex'), kind: 'mutex', permits: 1, limit: 1 },
    ...{ ttlMs: 20_000, queue: true, holder: { host: 'test', pid: process.pid, since: 0 } },
    ...over,
  };
}
