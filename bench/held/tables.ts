/**
 * What becomes of the tables of a database in an hour of heartbeats of 5,000 leases, which passes
 * as fast as the server can; so that it cleans up as often as in an hour, it does so more often.
 */
import { randomBytes } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { openStore } from 'holdfast/connect';
import type { Claim } from 'holdfast/store';
import { report } from '../measuring/result.ts';
import type { Place } from '../measuring/subject.ts';
import { subjectAt } from '../stores/index.ts';
import type { SqlSubject } from '../stores/sql.ts';

/** The longest that is allowed by default. */
const TTL_MS = 30_000;
const HOUR = 3_600_000 / (TTL_MS / 3);
/** As many as core has in one call. */
const BATCH = 100;
const LONGEST_MS = 45_000;

export async function measure([place]: readonly [Place]): Promise<void> {
  const subject = (await subjectAt(place.url)) as SqlSubject;
  const observer = await subject.observe(place);
  const store = await openStore(place.url);
  const batches = Array.from({ length: subject.leases.count / BATCH }, (_, n) =>
    Array.from({ length: BATCH }, (_, m) => claimOf(`table:${n}:${m}`)),
  );
  for (const batch of batches) await store.claim(batch);
  await observer.tidy();
  const what = `the tables of ${subject.leases.count.toLocaleString('en')} leases, tidied up`;
  report({ what, measured: await observer.sizes() });
  const stopAt = performance.now() + LONGEST_MS;
  let beats = 0;
  for (; beats < HOUR && performance.now() < stopAt; beats++) {
    for (const batch of batches) {
      const lost = (await store.renew(batch)).find(({ state }) => state !== 'held');
      if (lost) throw new Error(`A lease is ${JSON.stringify(lost)}.`);
    }
  }
  const share = beats < HOUR ? `${beats} of the ${HOUR}` : `the ${HOUR}`;
  const after = `the same after ${share} heartbeats of an hour`;
  report({ what: after, measured: await observer.sizes() });
  for (const batch of batches) await store.release(batch);
  await store.close?.();
  await observer.close();
}

function claimOf(resource: string): Claim {
  return {
    ...{ resource, id: randomBytes(16).toString('hex') },
    ...{ kind: 'mutex', permits: 1, limit: 1, ttlMs: TTL_MS, queue: false },
    holder: { host: 'bench', pid: 1, since: 0 },
  };
}
