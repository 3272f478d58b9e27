import { expect, it } from 'vitest';
import type { EtcdClient } from '../../../../src/clients/etcd/client.ts';
import { KeySpace } from '../../../../src/stores/etcd/layout.ts';
import { Leases } from '../../../../src/stores/etcd/leases.ts';
import { EtcdClaims } from '../../../../src/stores/etcd/own-claims.ts';
import { textOf } from '../../../../src/stores/etcd/places.ts';
import { renewAll } from '../../../../src/stores/etcd/verbs/renew.ts';
import { claimOf } from '../../../methods/faults/bed.ts';
import { FakeClock, flush } from '../../../support/fake-clock.ts';

it('a claim that another verb adds during a heartbeat gets its status', async () => {
  const [clock, keys, claim] = [new FakeClock(), new KeySpace(''), claimOf('a')];
  const revisions = { createRevision: 2n, modRevision: 2n, version: 1n };
  const kv = { key: keys.claim('a', claim.id), value: textOf(claim), ...revisions, lease: 1n };
  const found = { range: { kvs: [kv], count: 1 } };
  const txn = async () => {
    await flush();
    own.add(claim, leases.of(kv.lease, { ms: claim.ttlMs, at: clock.now() }));
    return { revision: 2n, succeeded: true, answers: [found, found] };
  };
  const context = { client: { txn } as unknown as EtcdClient, keys, clock };
  const [own, leases] = [new EtcdClaims(context), new Leases(context)];
  const parts = { ...context, own, leases, maxWaiters: 1 };
  expect(await renewAll(parts, [claim])).toMatchObject([{ state: 'held', token: 2n }]);
});
