/** A primary and its replicas part: by demotion, promotion, or a network between them. */
import { describe, expect } from 'vitest';
import { inBeds, inTurn, sleep } from '../../methods/faults/bed.ts';
import { Fenced } from '../../methods/faults/fenced.ts';
import { Belief, firstGrant, Scene } from '../../methods/faults/scene.ts';
import { hearWarnings } from '../../methods/faults/warnings.ts';
import { type Replicated, startReplicated } from '../../servers/topologies.ts';
import { patiently } from '../../support/patiently.ts';
import { paced } from '../../support/this-run.ts';
import { until } from '../../support/until.ts';
import { Bed } from './bed.ts';

const inOrder = inTurn(() => new Bed());
const inBed = inBeds(() => new Bed());

/** The primary notices after a second that its replicas are gone, and refuses writes. */
const CAREFUL = ['min-replicas-to-write 1', 'min-replicas-max-lag 1'];

/** Both believe for as long as the test looks. */
const LONG_TTL_MS = paced(20_000);

async function replicated(bed: Bed, config: readonly string[]): Promise<Replicated> {
  const servers = bed.serve(await startReplicated({ config }));
  await bed.settle(servers.primary);
  await until('had the record of the store', async () => {
    const found = servers.replicas.map((each) => each.command('EXISTS', 'holdfast:!record'));
    return (await Promise.all(found)).every((count) => count === 1);
  });
  return servers;
}

// One after the other, for warnings are the whole process's.
describe('a primary that lives on alone', () => {
  inOrder('is warned of; two believe, and the fence holds', async (bed) => {
    const { primary, replicas } = await replicated(bed, []);
    const heard = bed.use(hearWarnings());
    const lease = await patiently(bed.locks(primary).mutex('split'));
    await sleep(0);
    expect(heard.codes).toEqual(['HOLDFAST_SPLIT_PRIMARY']);
    const [replica] = replicas;
    await replica!.command('REPLICAOF', 'NO', 'ONE');
    const grant = await firstGrant(bed.store(replica!), 'split');
    expect(lease).toHaveProperty('held', true);
    const fenced = bed.use(new Fenced());
    const { resource, lineage } = lease;
    const token = grant.token * 1024n;
    expect(fenced.write({ resource, lineage, token }, 'the new')).toBe('written');
    expect(fenced.write(lease, 'the first')).toBe('STALE_TOKEN');
  });

  inOrder(
    'but needs replicas to write: the holder is told before the other grants',
    async (bed) => {
      const { primary, replicas } = await replicated(bed, CAREFUL);
      const heard = bed.use(hearWarnings());
      const [replica, other] = replicas;
      const scene = await Scene.set(bed, { holder: primary, others: primary });
      expect(heard.codes).toEqual([]);
      await replica!.command('REPLICAOF', 'NO', 'ONE');
      await other!.command('REPLICAOF', replica!.host, replica!.port);
      scene.probed.expectBefore(await firstGrant(bed.store(replica!), 'probed'));
    },
  );
});

describe('a primary and its replicas', () => {
  inBed('stand still: nothing is granted or renewed until they follow', async (bed) => {
    const { primary, replicas } = await replicated(bed, CAREFUL);
    const scene = await Scene.set(bed, { holder: primary, others: primary });
    for (const replica of replicas) replica.pause();
    await until('knew the holder', async () => scene.probed.told && scene.queued.told);
    const failed = { code: 'STORE', retryable: true };
    await expect(bed.patientLocks(primary).mutex('new').tryAcquire()).rejects.toMatchObject(failed);
    for (const replica of replicas) replica.resume();
    await scene.expectSucceeded();
    await scene.leave(primary);
  });

  inBed('the primary is demoted for a while: the holder is told first', async (bed) => {
    const server = await bed.server();
    const scene = await Scene.set(bed, { holder: server, others: server });
    // Of a primary that is not there, so that it keeps its data.
    await server.command('REPLICAOF', '127.0.0.1', 1);
    await until('knew the holder', async () => scene.probed.told && scene.queued.told);
    expect(scene.reasons).toEqual(['expired', 'expired']);
    await server.command('REPLICAOF', 'NO', 'ONE');
    await scene.expectSucceeded();
    await scene.leave(server);
  });

  inBed('a lock that no replica has: the next primary makes all wait', async (bed) => {
    const { primary, replicas } = await replicated(bed, []);
    const [replica] = replicas;
    for (const each of replicas) each.pause();
    // What is on its way to them would reach them after all.
    await primary.command('CLIENT', 'KILL', 'TYPE', 'REPLICA');
    const belief = bed.use(new Belief(await patiently(bed.locks(primary).mutex('unreplicated'))));
    await primary.kill();
    replica!.resume();
    await replica!.command('REPLICAOF', 'NO', 'ONE');
    expect(await replica!.command('EXISTS', 'holdfast::unreplicated')).toBe(0);
    belief.expectBefore(await firstGrant(bed.store(replica!), 'unreplicated'));
  });
});

describe('replicas: 1', () => {
  inBed('a grant that reaches none is taken back, and nothing stays', async (bed) => {
    const { primary, replicas } = await replicated(bed, CAREFUL);
    for (const replica of replicas) replica.pause();
    // Lives longer than the test: if it stayed, the others would wait for it.
    const options = { replicas: 1, maxTtl: LONG_TTL_MS };
    const locks = bed.locksOn(bed.store(primary, options), LONG_TTL_MS);
    const failed = { code: 'STORE', retryable: true };
    await expect(locks.mutex('kept').tryAcquire()).rejects.toMatchObject(failed);
    for (const replica of replicas) replica.resume();
    const store = bed.store(primary, options);
    const next = await firstGrant(store, 'kept');
    expect((await store.inspect('kept')).holders).toMatchObject([{ number: next.token }]);
  });
});
