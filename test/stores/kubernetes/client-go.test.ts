/** Leases that are shared with real leader elections of client-go, in both directions. */
import { createLocks, type Locks } from 'holdfast';
import { leaseLockStore } from 'holdfast/kubernetes';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import type { LeaseObject, LeaseSpec } from '../../../src/stores/kubernetes/lease.ts';
import { ForeignProgram } from '../../methods/sharing/foreign-program.ts';
import { goDriver, missingDriver } from '../../methods/sharing/go.ts';
import { pairSuite } from '../../methods/sharing/pair-suite.ts';
import { KubernetesServer, missingKubernetes } from '../../servers/kubernetes-server.ts';
import { until } from '../../support/until.ts';

const why = (await missingKubernetes()) ?? (await missingDriver('kubernetes'));
beforeEach(({ skip }) => skip(why !== undefined, why));

const LEASES = '/apis/coordination.k8s.io/v1/namespaces/default/leases';
/** The pause of our tries, in ms, as in the program in Go. */
const RETRY_MS = 100;

let server: KubernetesServer;
let go: ForeignProgram;
let locks: Locks;
beforeAll(async () => {
  if (why !== undefined) return;
  server = await KubernetesServer.start();
  go = await ForeignProgram.start(await foreign());
  locks = createLocks(leaseLockStore(access()), { ttl: 10_000 });
});
afterAll(async () => {
  await locks?.close({ drain: 0 });
  await go?.kill();
  await server?.close();
});

const access = () => ({ url: server.url, ca: server.ca, token: server.admin, retry: RETRY_MS });
const foreign = () => goDriver('kubernetes', server.url, server.admin, server.caFile);

async function leaseOf(name: string): Promise<LeaseObject> {
  return JSON.parse((await server.ask(`${LEASES}/${name}`)).text);
}

/** As a person does it, between two heartbeats. */
async function edit(name: string, spec: LeaseSpec): Promise<void> {
  await until('it was edited', async () => {
    const lease = { ...(await leaseOf(name)), spec };
    return (await server.ask(`${LEASES}/${name}`, lease, 'PUT')).status === 200;
  });
}

pairSuite('client-go', {
  kind: 'leader',
  careless: 'at times',
  foreign: async () => {
    if (why !== undefined) throw new Error(why);
    return foreign();
  },
  own: () => ['kubernetes', server.url, access()],
});

test('it is client-go, of the version of the API server', async () => {
  expect(await go.version()).toBe('v0.34.4');
});

test('renewals within a second are not one to client-go', async () => {
  const lease = await locks.mutex('renewed').acquire();
  const thread = go.thread();
  const records = [await thread.ask('record', 'leader', 'renewed')];
  for (let n = 0; n < 5; n++) {
    await lease.renew();
    records.push(await thread.ask('record', 'leader', 'renewed'));
  }
  expect(new Set(records)).toHaveLength(records.length);
  await lease.release();
});

test('tokens and versions grow from one side to the other, over a deletion as well', async () => {
  const thread = go.thread();
  const tokens: bigint[] = [];
  for (const turn of ['ours', 'go', 'ours', 'deleted', 'ours', 'go']) {
    if (turn === 'deleted') await server.ask(`${LEASES}/fenced`, undefined, 'DELETE');
    else if (turn === 'ours') {
      const lease = await locks.mutex('fenced').acquire();
      tokens.push(lease.token ?? 0n);
      await lease.release();
    } else {
      await thread.acquire('leader', 'fenced', { lease: 10_000 });
      tokens.push(BigInt(await thread.ask('version-of', 'leader', 'fenced')) * 1024n);
      await thread.release('leader', 'fenced');
    }
  }
  expect(tokens).toHaveLength(5);
  expect(tokens).toEqual([...new Set(tokens)].sort((a, b) => (a < b ? -1 : 1)));
});

test('each side counts the terms of the other, and leaves the rest of the object', async () => {
  const metadata = { name: 'terms', labels: { app: 'shop' }, annotations: { by: 'hand' } };
  await server.ask(LEASES, { metadata, spec: {} });
  const thread = go.thread();
  await (await locks.mutex('terms').acquire()).release();
  await thread.acquire('leader', 'terms', { lease: 10_000 });
  expect((await leaseOf('terms')).spec).toMatchObject({ leaseTransitions: 2 });
  await thread.release('leader', 'terms');
  const lease = await locks.mutex('terms').acquire({ label: 'nightly' });
  const { spec, metadata: after } = await leaseOf('terms');
  expect(after).toMatchObject(metadata);
  expect(Object.keys(spec ?? {}).sort()).toEqual([
    ...['acquireTime', 'holderIdentity', 'leaseDurationSeconds', 'leaseTransitions', 'renewTime'],
  ]);
  expect(spec).toMatchObject({ leaseDurationSeconds: 10, leaseTransitions: 3 });
  expect(spec?.holderIdentity).toMatch(/^nightly \(.+:\d+\) [0-9a-f]{32}$/);
  await lease.release();
  expect((await leaseOf('terms')).spec).toMatchObject({
    ...{ holderIdentity: '', leaseDurationSeconds: 1, leaseTransitions: 3 },
  });
});

test('client-go that missed its loss ends the next lease, which is taken back', async () => {
  const thread = go.thread();
  // It renews once, and then not for half a minute.
  await thread.acquire('leader', 'careless', { lease: 600_000 });
  const renewed = async () => {
    const { spec } = await leaseOf('careless');
    return spec?.renewTime !== spec?.acquireTime;
  };
  await until('it had renewed', renewed);
  await edit('careless', { holderIdentity: '' });
  const lease = await locks.mutex('careless').acquire();
  await thread.ask('stop', 'leader', 'careless');
  expect((await leaseOf('careless')).spec).toMatchObject({ holderIdentity: '' });
  await lease.renew();
  expect((await leaseOf('careless')).spec).toMatchObject({ leaseTransitions: 2 });
  await lease.release();
});

test('a lease that a person takes away is lost at the next heartbeat', async () => {
  for (const way of ['edited', 'deleted'] as const) {
    const name = `taken-${way}`;
    const lease = await locks.mutex(name).acquire();
    if (way === 'deleted') await server.ask(`${LEASES}/${name}`, undefined, 'DELETE');
    else await edit(name, { holderIdentity: 'me' });
    await expect(lease.renew()).rejects.toThrow();
    expect(lease.loss?.reason).toBe(way === 'deleted' ? 'store-reset' : 'evicted');
  }
});
