/** Several tasks that take locks again and again, as quickly as they can. */
import { createLocks } from 'holdfast';
import { openStore } from 'holdfast/connect';
import { patiently } from '../../../support/patiently.ts';
import type { HoldRecord } from '../../histories/holds.ts';
import { given, hear, machineMs, sleep, tell } from './talk.ts';

export interface StormerOptions {
  /** A URL. */
  readonly store: string;
  /** For each of them there is a task. */
  readonly resources: readonly string[];
  readonly rounds: number;
  readonly ttl: number;
}

export interface Stormed {
  readonly type: 'stormed';
  readonly holds: readonly HoldRecord[];
  /** What the store said when it did not grant, each once. */
  readonly said: readonly string[];
}

const { store, resources, rounds, ttl } = given<StormerOptions>();
const locks = createLocks(await openStore(store), { ttl });
const holds: HoldRecord[] = [];
const said = new Set<string>();
await tell({ type: 'ready' });
await hear();
await Promise.all(resources.map(storm));
await locks.close();
await tell({ type: 'stormed', holds, said: [...said] } satisfies Stormed);
process.disconnect();

async function storm(resource: string): Promise<void> {
  for (let i = 0; i < rounds; i++) {
    const requestedAt = machineMs();
    const lease = await patiently(locks.mutex(resource, { fair: true }), failed);
    const grantedAt = machineMs();
    await sleep(Math.random() * 2);
    const endedAt = lease.held ? machineMs() : grantedAt;
    const { token } = lease;
    holds.push({
      ...{ resource, token, permits: 1, limit: 1, process: process.pid },
      ...{ requestedAt, grantedAt, endedAt },
    });
    await lease.release();
  }
}

function failed(error: Error): void {
  said.add(`${String(error)} ${String(error.cause)}`);
}
