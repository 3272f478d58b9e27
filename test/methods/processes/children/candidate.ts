/** Stands for election and tells of its terms, until the test says enough. */
import { createLocks } from 'holdfast';
import { openStore } from 'holdfast/connect';
import { createElection } from 'holdfast/election';
import { given, hear, machineMs, type OnStore, sleep, tell } from './talk.ts';

export interface CandidateOptions extends OnStore {
  readonly name: string;
  readonly label: string;
}

export type Leads = { readonly type: 'leads'; readonly token: bigint };

export interface Led {
  readonly type: 'led';
  /** The last time at which it said that it leads. */
  readonly lastLedAt: number;
  readonly reason: string | undefined;
}

const { store, name, label, ttl } = given<CandidateOptions>();
const locks = createLocks(await openStore(store), { ttl });
const candidate = createElection(locks, name).campaign({ label });
void hear().then(candidate.resign);
for await (const { lease } of candidate) {
  await tell({ type: 'leads', token: lease.token } satisfies Leads);
  let [lastLedAt, at] = [0, machineMs()];
  // The time is read first, so that it led at that time at least.
  for (; candidate.state === 'leader'; at = machineMs()) {
    lastLedAt = at;
    await sleep(1);
  }
  await tell({ type: 'led', lastLedAt, reason: lease.loss?.reason } satisfies Led);
}
await locks.close();
process.disconnect();
