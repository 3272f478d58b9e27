import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Store } from 'holdfast';
import type { Claim, HeldStatus } from 'holdfast/store';
import { machineMs } from './children/talk.ts';

export interface Probe {
  /** Just before the request that got it. */
  readonly at: number;
  readonly claim: Claim;
  readonly status: HeldStatus;
}

/** Tries to take the mutex every two milliseconds until it gets it. */
export async function probe(store: Store): Promise<Probe> {
  for (;;) {
    const claim: Claim = {
      ...{ resource: 'mutex', id: randomBytes(16).toString('hex'), kind: 'mutex' },
      ...{ permits: 1, limit: 1, ttlMs: 20_000, queue: false },
      holder: { host: 'prober', pid: process.pid, since: Date.now() },
    };
    const at = machineMs();
    const [status] = await store.claim([claim]);
    if (status?.state === 'held') return { at, claim, status };
    await sleep(2);
  }
}
