import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { EtcdClient } from '../../../src/clients/etcd/client.ts';
import { type EtcdServer, startEtcd } from '../../servers/etcd-server.ts';
import { missing } from '../../servers/programs.ts';
import { until } from '../../support/until.ts';
import { beginning, clientOf, hear, put, valuesOf } from './scene.ts';

describe.for(['etcd', 'etcd-3.5'] as const)('the client, with %s', (program) => {
  let server: EtcdServer;
  let client: EtcdClient;

  beforeAll(async () => {
    if ((await missing(program)) !== undefined) return;
    server = await startEtcd({ program });
    return () => server.close();
  });

  beforeEach(async ({ skip }) => {
    const reason = await missing(program);
    skip(reason !== undefined, reason);
    client = clientOf(server.url);
  });

  it('writes, reads and deletes in one transaction', async () => {
    await put(client, 'basic/c', 'ü😀');
    const reply = await client.txn({
      success: [
        { put: { key: 'basic/b', value: '' } },
        { put: { key: 'basic/a', value: '' } },
        { range: { ...beginning('basic/'), limit: 1 } },
        { delete: { key: 'basic/c' } },
        { range: { ...beginning('basic/'), countOnly: true } },
        { range: { ...beginning('basic/'), keysOnly: true } },
        { delete: beginning('elsewhere/') },
      ],
    });
    const { revision } = reply;
    const [a, b] = ['basic/a', 'basic/b'];
    const written = { version: 1n, createRevision: revision, modRevision: revision, lease: 0n };
    const first = { key: a, value: '', ...written };
    const second = { ...first, key: b };
    expect(reply.succeeded).toBe(true);
    expect(reply.answers).toEqual([
      { put: true },
      { put: true },
      { range: { kvs: [first], count: 3 } },
      { deleted: 1 },
      { range: { kvs: [], count: 2 } },
      { range: { kvs: [first, second], count: 2 } },
      { deleted: 0 },
    ]);
    const again = await client.txn({ success: [{ put: { key: a, value: 'ü' } }] });
    expect(again.revision).toBe(revision + 1n);
    expect(again.cluster).toBe(reply.cluster);
    const read = await client.txn({ success: [{ range: { key: a } }] });
    const now = { key: a, value: 'ü', ...written, version: 2n, modRevision: again.revision };
    expect(read.answers).toEqual([{ range: { kvs: [now], count: 1 } }]);
    expect(read.revision).toBe(again.revision);
  });

  it('compares whatever can be compared', async () => {
    const lease = await client.grant(60_000);
    const before = await put(client, 'compare/a', 'x');
    await client.txn({ success: [{ put: { key: 'compare/a', value: 'm', lease: lease.id } }] });
    const a = { key: 'compare/a' };
    const cases = [
      [true, { ...a, target: 'version', is: '=', to: 2n }],
      [false, { ...a, target: 'version', is: '=', to: 1n }],
      [true, { ...a, target: 'create', is: '=', to: before.revision }],
      [true, { ...a, target: 'mod', is: '>', to: before.revision }],
      [false, { ...a, target: 'mod', is: '<', to: before.revision }],
      [true, { ...a, target: 'value', is: '=', to: 'm' }],
      [true, { ...a, target: 'value', is: '<', to: 'n' }],
      [true, { ...a, target: 'value', is: '!=', to: '' }],
      [true, { ...a, target: 'lease', is: '=', to: lease.id }],
      [true, { ...a, target: 'lease', is: '!=', to: 0n }],
      [true, { key: 'compare/none', target: 'create', is: '=', to: 0n }],
      [true, { ...beginning('compare/'), target: 'create', is: '!=', to: 0n }],
      [false, { ...beginning('compare/'), target: 'create', is: '=', to: 0n }],
      [true, { ...beginning('nothing/'), target: 'create', is: '=', to: 0n }],
    ] as const;
    for (const [expected, compare] of cases) {
      const { succeeded, answers } = await client.txn({ compare: [compare], success: [] });
      expect([compare, succeeded]).toEqual([compare, expected]);
      expect(answers).toEqual([]);
    }
    await client.revoke(lease.id);
  });

  it('carries out transactions within one, each as its own comparisons say', async () => {
    await put(client, 'nested/there');
    const enter = (key: string) => ({
      txn: {
        compare: [{ key, target: 'create', is: '=', to: 0n } as const],
        success: [{ put: { key, value: 'new' } }],
        failure: [{ range: { key } }],
      },
    });
    const { answers, revision } = await client.txn({
      success: [enter('nested/there'), enter('nested/new'), { txn: { success: [] } }],
    });
    expect(answers).toMatchObject([
      { txn: { succeeded: false, answers: [{ range: { count: 1 } }] } },
      { txn: { succeeded: true, answers: [{ put: true }] } },
      { txn: { succeeded: true, answers: [] } },
    ]);
    const { answers: read } = await client.txn({ success: [{ range: { key: 'nested/new' } }] });
    expect(read).toMatchObject([{ range: { kvs: [{ createRevision: revision }] } }]);
  });

  it('brings large transactions and answers across whole', async () => {
    const keys = Array.from({ length: 100 }, (_, n) => `large/${String(n).padStart(3, '0')}`);
    const value = 'ä'.repeat(5000);
    const reply = await client.txn({ success: keys.map((key) => ({ put: { key, value } })) });
    expect(reply.answers).toHaveLength(100);
    const all = await valuesOf(client, 'large/');
    expect(all).toEqual(Object.fromEntries(keys.map((key) => [key, value])));
  });

  it('grants what the server gives, keeps it alive, and knows when it is dead', async () => {
    const { id, ttlMs } = await client.grant(30_500);
    expect(ttlMs).toBe(31_000);
    expect(await client.keepAlive(id)).toBe(31_000);
    const left = await client.timeToLive(id);
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThanOrEqual(31_000);
    await client.txn({ success: [{ put: { key: 'lease/k', value: '', lease: id } }] });
    await client.revoke(id);
    expect(await valuesOf(client, 'lease/')).toEqual({});
    expect(await client.keepAlive(id)).toBe(0);
    expect(await client.timeToLive(id)).toBe(0);
    await client.revoke(id);
  });

  it('gives each of many keep-alives its own answer', async () => {
    const granted = await Promise.all([20_000, 30_000, 40_000].map((ms) => client.grant(ms)));
    const leases = [...granted, { id: 12_345n, ttlMs: 0 }, ...granted];
    const lives = await Promise.all(leases.map(({ id }) => client.keepAlive(id)));
    expect(lives).toEqual(leases.map(({ ttlMs }) => ttlMs));
  });

  it('is told when a lease ends by itself', async () => {
    const { id, ttlMs } = await client.grant(1000);
    expect(ttlMs).toBeGreaterThanOrEqual(1000);
    const ear = await hear(client, 'expiry/k');
    await client.txn({ success: [{ put: { key: 'expiry/k', value: '', lease: id } }] });
    await until('ended', async () => ear.keys.length === 2);
    expect(ear.keys).toEqual(['expiry/k', '-expiry/k']);
    expect(await client.keepAlive(id)).toBe(0);
  });

  it('a put keeps the lease of its key if it is asked to', async () => {
    const { id } = await client.grant(60_000);
    await client.txn({ success: [{ put: { key: 'keep/k', value: '1', lease: id } }] });
    await client.txn({ success: [{ put: { key: 'keep/k', value: '2', lease: 'keep' } }] });
    const { answers } = await client.txn({ success: [{ range: { key: 'keep/k' } }] });
    expect(answers).toMatchObject([{ range: { kvs: [{ value: '2', lease: id }] } }]);
    const absent = client.txn({ success: [{ put: { key: 'keep/l', value: '', lease: 'keep' } }] });
    await expect(absent).rejects.toMatchObject({ code: 'STORE', outcome: 'failed' });
    await client.revoke(id);
  });

  it('tells what the server refuses', async () => {
    const twice = { put: { key: 'refused/k', value: '' } };
    const failure = client.txn({ success: [twice, twice] });
    await expect(failure).rejects.toMatchObject({ retryable: false, outcome: 'failed' });
    await expect(failure).rejects.toThrow(/duplicate key/);
    const large = put(client, 'refused/k', 'x'.repeat(4_000_000));
    await expect(large).rejects.toMatchObject({ code: 'STORE', retryable: false });
    expect(await valuesOf(client, 'refused/')).toEqual({});
  });

  it('does nothing more once it is closed, and ends what is under way', async () => {
    const ear = await hear(client, 'closed/k');
    server.pause();
    const underWay = [put(client, 'closed/k'), client.keepAlive(1n), client.grant(1000)];
    const ends = Promise.allSettled(underWay);
    // Until they have left; nothing shows it.
    await new Promise((resolve) => setTimeout(resolve, 100));
    client.close();
    for (const end of await ends) {
      expect(end).toMatchObject({ status: 'rejected', reason: { code: 'STORE' } });
    }
    server.resume();
    for (const late of [put(client, 'closed/k'), client.keepAlive(1n), client.revoke(1n)]) {
      await expect(late).rejects.toMatchObject({ code: 'STORE', outcome: 'failed' });
    }
    client.close();
    expect(ear.losses).toBe(0);
  });
});
