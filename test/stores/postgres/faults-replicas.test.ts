/** A primary and its standby part: one dies, the other is promoted, or both live on. */
import { postgresStore } from 'holdfast/postgres';
import postgres from 'postgres';
import { describe, expect, test } from 'vitest';
import { POSTGRES_CLIENTS } from '../../database-locks/clients.ts';
import { MAX_TTL_MS, sleep } from '../../methods/faults/bed.ts';
import { Belief, firstGrant, Scene } from '../../methods/faults/scene.ts';
import { serversOfTheirOwn } from '../../methods/faults/sql-bed.ts';
import { type Pair, replicaFaults } from '../../methods/faults/sql-replicas.ts';
import { expectFenceHolds } from '../../methods/faults/two-believe.ts';
import { hearWarnings } from '../../methods/faults/warnings.ts';
import { type PostgresServer, startPostgres } from '../../servers/postgres-server.ts';
import { TcpProxy } from '../../servers/tcp-proxy.ts';
import { patiently } from '../../support/patiently.ts';
import { paced } from '../../support/this-run.ts';
import { until } from '../../support/until.ts';
import { Bed } from './fault-bed.ts';

serversOfTheirOwn();

/** A promotion fits in, and two who believe can be looked at, on the busiest machine. */
const LONG_TTL_MS = paced(6000);

async function pair(bed: Bed): Promise<Pair<PostgresServer>> {
  const primary = await bed.server();
  const between = bed.serve(await TcpProxy.start(primary.port));
  const standby = bed.serve(await primary.standby({ via: between.port }));
  await standby.inStep();
  return { primary, standby, between };
}

describe.concurrent('a standby', () => {
  replicaFaults({
    newBed: () => new Bed(),
    pair,
    programs(bed, address, { primary, standby }) {
      const places = [primary, standby].map(({ host, port }) => `${host}:${port}`);
      // The client finds out by itself who takes writes.
      const client = postgres(`postgres://${bed.name}@${places}/postgres`);
      const known = { schema: bed.name, maxTtl: MAX_TTL_MS };
      const either = () => bed.use(postgresStore(client, known));
      return [bed.store(address), either(), either()].map((store) => bed.locksOn(store));
    },
    called: 'standby',
  });

  test('is waited for: a primary without it grants nothing, and the holder is told', async () => {
    await using bed = new Bed();
    const { primary, standby } = await pair(bed);
    await primary.query("ALTER SYSTEM SET synchronous_standby_names = '*'");
    await primary.query('SELECT pg_reload_conf()');
    const scene = await Scene.set(bed, { holder: primary, others: primary });
    await standby.promote();
    scene.probed.expectBefore(await firstGrant(bed.store(standby), 'probed'));
    const other = bed.locks(primary).mutex('other');
    await expect(other.tryAcquire()).rejects.toMatchObject({ code: 'STORE', retryable: true });
  });
});

// Not at the same time as others, for warnings are the whole process's.
describe('a primary that lives on beside the one that was promoted', () => {
  test('is warned of; two believe, and the fence holds', async () => {
    await using bed = new Bed();
    const { primary, standby } = await pair(bed);
    const shop = bed.serve(await startPostgres());
    const heard = bed.use(hearWarnings());
    const options = { maxTtl: LONG_TTL_MS };
    const lease = await patiently(bed.locks(primary, options).mutex('split'));
    await sleep(0);
    expect(heard.codes).toEqual(['HOLDFAST_SPLIT_PRIMARY']);
    await standby.inStep();
    await standby.promote();
    const belief = bed.use(new Belief(lease));
    const grant = await firstGrant(bed.store(standby, options), 'split');
    await until('believed both', async () => belief.lastHeldAt > grant.at);
    const { resource, lineage } = lease;
    const newest = { resource, lineage, token: grant.token * 1024n };
    await expectFenceHolds(bed.use(POSTGRES_CLIENTS.pg!(shop.url)), lease, newest);
  });
});
