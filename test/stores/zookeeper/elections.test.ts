/** What an election needs of sessions. */
import { createLocks } from 'holdfast';
import { createElection } from 'holdfast/election';
import { expect, test } from 'vitest';
import { claimOf, sleep } from '../../methods/faults/bed.ts';
import { startZookeeper } from '../../servers/zookeeper-server.ts';
import { until } from '../../support/until.ts';
import { Bed } from './fault-bed.ts';

test('an observer whose session has ended goes on in another one', async () => {
  // Its sessions are never longer than 4 s.
  const strict = await startZookeeper({ config: ['maxSessionTimeout=4000'] });
  await using bed = new Bed(strict);
  bed.serve(strict);
  const { proxy } = await bed.behindProxy();
  const locks = createLocks(bed.store(proxy));
  bed.use({ close: () => locks.close({ drain: 0 }) });
  const standings = createElection(locks, 'office').observe({ every: 50 });
  expect((await standings.next()).value).toEqual({ leaders: [], standbys: [], missed: false });
  const next = standings.next();
  proxy.refuse();
  proxy.reset();
  // Longer than the session lives.
  await sleep(5000);
  const store = bed.store(strict);
  const leader = claimOf('office', { kind: 'permits', ttlMs: 2500 });
  await until('did it lead', async () => (await store.claim([leader]))[0]?.state === 'held');
  // Until the observer is there, which may take long on a busy machine.
  const beats = setInterval(() => void store.renew([leader]).catch(() => {}), 250);
  bed.use({ close: () => clearInterval(beats) });
  await proxy.accept();
  expect((await next).value).toMatchObject({ leaders: [{ ttlMs: 2500 }], missed: true });
  await standings.return();
});
