/** Sells one item after the other under a mutex, and reports that to a dashboard. */

import { createLocks } from 'holdfast';
import { openStore } from 'holdfast/connect';
import { type ReportOptions, reportTo } from 'holdfast/dashboard';
import { paced } from '../../../support/this-run.ts';
import { given, hear, tell } from './talk.ts';

export interface SellerOptions {
  /** A URL. */
  readonly store: string;
  readonly label: string;
  readonly report: ReportOptions;
}

/** It holds the lock, or why it holds it no more. */
export interface Sold {
  readonly type: 'held' | 'lost';
  readonly token: string;
}

const { store, label, report } = given<SellerOptions>();
const locks = createLocks(await openStore(store), { ttl: paced(4000), label });
const reporter = reportTo(locks, report);
const lock = locks.mutex('stock');
const say = (type: Sold['type'], token: bigint) => tell({ type, token: String(token) });
locks.on('lost', ({ token }) => void say('lost', token));
// One more before: a hand-off in the process, where both tasks are quick.
await Promise.all([lock.run(() => {}), lock.run(() => {})]);
const { token } = await lock.acquire();
await say('held', token);
await hear();
await locks.close({ drain: 0 });
await reporter.close();
process.disconnect();
