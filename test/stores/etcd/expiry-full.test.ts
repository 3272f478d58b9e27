/** A server without room for anything new: what is held stays so, and what is over still ends. */
import { expect, test } from 'vitest';
import { etcdFacts } from '../../../src/clients/facts/etcd-facts.ts';
import { put } from '../../clients/etcd/scene.ts';
import { mortal, TTL_MS } from '../../methods/faults/expiry.ts';
import { until } from '../../support/until.ts';
import { sharedServer } from './fault-bed.ts';
import { LossyScene } from './lossy-scene.ts';

const QUOTA = 6_000_000;

const server = await sharedServer({ config: [`--quota-backend-bytes=${QUOTA}`] });

/** Until its alarm goes off. */
async function fill(scene: LossyScene): Promise<bigint> {
  const value = 'x'.repeat(QUOTA / 12);
  let revision = 0n;
  await until('was it full', async () => {
    try {
      ({ revision } = await put(scene.client, `${scene.prefix}%/filling`, value));
      return false;
    } catch (error) {
      expect(error).toMatchObject({ retryable: true, outcome: 'failed' });
      return true;
    }
  });
  return revision;
}

async function makeRoom(revision: bigint): Promise<void> {
  await server.etcdctl('compact', `${revision}`, '--physical');
  await server.etcdctl('defrag');
  await server.etcdctl('alarm', 'disarm');
}

test('leases live on, also after a claim without an answer, which comes to nothing', async () => {
  await using scene = new LossyScene(server);
  const [kept, lost, late] = [mortal('kept'), mortal('lost'), mortal('late')];
  await scene.lossy.claim([kept, lost]);
  await scene.claimInVain(late);
  await scene.releaseInVain(late);
  const revision = await fill(scene);
  const { hazards } = await etcdFacts(server.url);
  expect(hazards).toEqual([
    expect.stringMatching(/NOSPACE: no lock can be taken; .* alarm disarm/),
  ]);
  // Its lease is kept alive again and again, although nothing can be marked there.
  const end = performance.now() + 2 * TTL_MS;
  await scene.beating([kept], async () => performance.now() > end);
  expect(await scene.stands(lost)).toBe(false);
  await makeRoom(revision);
  await scene.arrive();
  await scene.beating([kept], async () => !(await scene.stands(late)));
  await scene.aHeartbeat(kept);
  await scene.arrive();
  expect(await scene.stands(late)).toBe(false);
});
