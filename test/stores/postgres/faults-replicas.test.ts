/** A primary and its standby part: one dies, the other is promoted, or both live on. */
import { postgresStore } from 'holdfast/postgres';
import postgres from 'postgres';
import { describe, expect, test } from 'vitest';
import { POSTGRES_CLIENTS } from '../../database-locks/clients.ts';
import { MAX_TTL_MS, sleep } from '../../methods/faults/bed.ts';
import { firstGrant, Scene } from '../../methods/faults/scene.ts';
import { serversOfTheirOwn } from '../../methods/faults/sql-bed.ts';
import { type Pair, replicaFaults, split } from '../../methods/faults/sql-replicas.ts';
import { hearWarnings } from '../../methods/faults/warnings.ts';
import { type PostgresServer, startPostgres } from '../../servers/postgres-server.ts';
import { TcpProxy } from '../../servers/tcp-proxy.ts';
import { Bed } from './fault-bed.ts';

serversOfTheirOwn();

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
    const both = await pair(bed);
    const { url } = bed.serve(await startPostgres());
    const heard = bed.use(hearWarnings());
    const held = async (): Promise<void> => {
      await sleep(0);
      expect(heard.codes).toEqual(['HOLDFAST_SPLIT_PRIMARY']);
    };
    await split(bed, both, { shop: bed.use(POSTGRES_CLIENTS.pg!(url)), held });
  });
});
