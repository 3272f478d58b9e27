/** Works for a moment under a mutex with a `minHold`, and exits at once. */
import { createLocks } from 'holdfast';
import { openStore } from 'holdfast/connect';
import { given, machineMs, type OnStore, tell } from './talk.ts';

export interface RunnerOptions extends OnStore {
  readonly minHold: number;
}

export interface Ran {
  /** Before the grant. */
  readonly from: number;
}

const { store, ttl, minHold } = given<RunnerOptions>();
const locks = createLocks(await openStore(store), { ttl });
const from = machineMs();
await locks.mutex('mutex', { minHold }).run(() => tell({ type: 'ran', from }));
process.exit();
