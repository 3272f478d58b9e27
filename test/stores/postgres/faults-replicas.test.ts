/** A primary and its standby part: one dies, the other is promoted, or both live on. */
import type { Store } from 'holdfast';
import { postgresStore } from 'holdfast/postgres';
import postgres from 'postgres';
import { describe, expect, test } from 'vitest';
import { POSTGRES_CLIENTS } from '../../database-locks/clients.ts';
import { MAX_TTL_MS, RESTART_TTL_MS, sleep } from '../../methods/faults/bed.ts';
import { Crowd } from '../../methods/faults/crowd.ts';
import { Belief, firstGrant, patiently, Scene } from '../../methods/faults/scene.ts';
import { serversOfTheirOwn } from '../../methods/faults/sql-bed.ts';
import { expectFenceHolds } from '../../methods/faults/two-believe.ts';
import { hearWarnings } from '../../methods/faults/warnings.ts';
import { type PostgresServer, startPostgres } from '../../servers/postgres-server.ts';
import { TcpProxy } from '../../servers/tcp-proxy.ts';
import { paced } from '../../support/this-run.ts';
import { until } from '../../support/until.ts';
import { Bed } from './fault-bed.ts';

serversOfTheirOwn();

/** A promotion fits in, and two who believe can be looked at, on the busiest machine. */
const LONG_TTL_MS = paced(6000);

const RESOURCES = ['a', 'b', 'c'];

interface Pair {
  readonly primary: PostgresServer;
  readonly standby: PostgresServer;
}

async function pair(bed: Bed): Promise<Pair & { readonly between: TcpProxy }> {
  const primary = await bed.server();
  const between = bed.serve(await TcpProxy.start(primary.port));
  const standby = bed.serve(await primary.standby({ via: between.port }));
  await standby.inStep();
  return { primary, standby, between };
}

/** Goes where whoever takes writes is, as the client package does by itself. */
function eitherOf(bed: Bed, { primary, standby }: Pair): Store {
  const places = [primary, standby].map(({ host, port }) => `${host}:${port}`);
  const client = postgres(`postgres://${bed.name}@${places}/postgres`);
  return bed.use(postgresStore(client, { schema: bed.name, maxTtl: MAX_TTL_MS }));
}

describe.concurrent('a standby', () => {
  test('is promoted under load: nobody is granted what is held, and all get on', async () => {
    await using bed = new Bed();
    const servers = await pair(bed);
    const address = bed.serve(await TcpProxy.start(servers.primary.port));
    const stores = [bed.store(address), eitherOf(bed, servers), eitherOf(bed, servers)];
    const all = stores.map((store) => bed.locksOn(store));
    const crowd = bed.use(new Crowd(all, RESOURCES));
    await crowd.goesOn();
    await servers.primary.kill();
    await servers.standby.promote();
    address.lead(servers.standby.port);
    await crowd.goesOn();
    await crowd.expectOrder();
    await bed.leave();
    await bed.expectNothingLeft(servers.standby);
  });

  test('has a lease, which goes on when it is promoted', async () => {
    await using bed = new Bed();
    const servers = await pair(bed);
    const { primary, standby } = servers;
    const address = bed.serve(await TcpProxy.start(primary.port));
    const ttl = RESTART_TTL_MS;
    const scene = await Scene.set(bed, { holder: address, others: address, ttl });
    await standby.inStep();
    await primary.kill();
    await standby.promote();
    address.lead(standby.port);
    await scene.renewedSince(performance.now());
    await scene.expectUndisturbed(0);
    await scene.leave(standby);
  });

  test('lacks a lease: once promoted, it makes all wait until the holder is told', async () => {
    await using bed = new Bed();
    const { primary, standby, between } = await pair(bed);
    between.set({ flow: 'swallow' });
    const belief = bed.use(new Belief(await patiently(bed.locks(primary).mutex('lacking'))));
    await primary.kill();
    await standby.promote();
    expect(await standby.query(`SELECT FROM ${bed.name}.lock`)).toEqual([]);
    belief.expectBefore(await firstGrant(bed.store(standby), 'lacking'));
  });

  test('takes no locks, says why, and does when it is promoted', async () => {
    await using bed = new Bed();
    const { primary, standby } = await pair(bed);
    const refused = { code: 'STORE', retryable: true, outcome: 'failed' };
    const standing = { ...refused, message: expect.stringContaining('standby') };
    const attempt = bed.patientLocks(standby).mutex('a').tryAcquire();
    await expect(attempt).rejects.toMatchObject(standing);
    const waiting = patiently(bed.locks(standby).mutex('a'));
    await primary.kill();
    await standby.promote();
    await (await waiting).release();
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
