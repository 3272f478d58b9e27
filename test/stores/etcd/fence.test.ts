/** The fence where the guarded data is in etcd. */
import { etcdFence } from 'holdfast/fence';
import { type FenceFixture, fenceConformance } from 'holdfast/testkit';
import { afterAll, expect, test } from 'vitest';
import type { EtcdClient } from '../../../src/clients/etcd/client.ts';
import { etcdClient } from '../../../src/clients/etcd/etcd-client.ts';
import { put, valuesOf } from '../../clients/etcd/scene.ts';
import { sharedServer } from './fault-bed.ts';

const server = await sharedServer();
const etcd = etcdClient(server.url);
afterAll(() => etcd.close());

const fence = etcdFence();
const at = (resource: string) => ({ resource, lineage: 'one' });
const writing = (key: string, value: string) => ({ success: [{ put: { key, value } }] });

function fixtureFor(resource: string): FenceFixture {
  const key = `number of ${resource}`;
  const look = async (): Promise<number> => Number((await valuesOf(etcd, key))[key] ?? 0);
  return {
    look,
    adopt: (lease) => fence.adopt(etcd, lease),
    async enter(lease) {
      const entry = await fence.enter(etcd, lease);
      return { read: look, write: async (n) => void (await entry.write(writing(key, `${n}`))) };
    },
  };
}

fenceConformance({ test, create: fixtureFor });

test('a holder that enters anew is safe from its own earlier writes', async () => {
  const before = await fence.enter(etcd, { ...at('c'), token: 33n });
  const after = await fence.enter(etcd, { ...at('c'), token: '33' });
  await expect(before.write(writing('data/c', 'late'))).rejects.toThrow(/entered again/);
  await after.write(writing('data/c', 'on time'));
});

test("the caller's own comparisons choose the branch, and are no matter of the fence", async () => {
  const entry = await fence.enter(etcd, { ...at('d'), token: 33n });
  const absent = { key: 'data/d', target: 'version', is: '=', to: 0n } as const;
  const once = { compare: [absent], ...writing('data/d', '1') };
  expect(await entry.write(once)).toMatchObject({ succeeded: true, answers: [{ put: true }] });
  const failure = [{ range: { key: 'data/d' } }];
  expect(await entry.write({ ...once, failure })).toMatchObject({
    ...{ succeeded: false, answers: [{ range: { count: 1 } }] },
  });
});

test('a reader writes nothing, in no branch, and reads what it likes', async () => {
  const read = (token: bigint) => fence.enter(etcd, { ...at('e'), token, kind: 'read' });
  const reader = await read(9n);
  expect((await read(8n)).check).toEqual([]);
  // Nothing would keep what it writes from coming late.
  const put = { put: { key: 'data/e', value: 'x' } };
  const nested = { txn: { success: [], failure: [put] } };
  for (const txn of [
    { success: [put] },
    { success: [], failure: [{ delete: { key: 'data/e' } }] },
    { success: [nested] },
  ]) {
    await expect(reader.write(txn)).rejects.toMatchObject({ code: 'USAGE' });
  }
  const { answers } = await reader.write({ success: [{ range: { key: 'data/e' } }] });
  expect(answers).toMatchObject([{ range: { count: 0 } }]);
});

test('resources are told apart byte by byte; a deleted fence lets no old entry write', async () => {
  const names = ['g', 'G', 'g ', 'g\0', 'g/h', 'g%2Fh', 'ß'.repeat(256)];
  for (const name of names) await fence.enter(etcd, { ...at(name), token: 5n });
  for (const name of names) {
    await expect(fence.enter(etcd, { ...at(name), token: 4n })).rejects.toMatchObject({ seen: 5n });
  }
  const entry = await fence.enter(etcd, { ...at('g'), token: 5n });
  await server.etcdctl('del', 'holdfast-fence/g');
  await expect(entry.write(writing('data/g', ''))).rejects.toThrow(/key of the fence was deleted/);
});

test('what is no lease, no fence or no prefix is refused', async () => {
  await expect(fence.enter(etcd, { ...at('h'), token: 0n })).rejects.toThrow(/fencing token/);
  for (const text of ['no JSON', '{}', '{"lineage":"one"}', '{"lineage":"one","token":"x"}']) {
    await put(etcd, 'mine/h', text);
    const lease = { ...at('h'), token: 1n };
    await expect(etcdFence({ prefix: 'mine/' }).enter(etcd, lease)).rejects.toThrow(
      /is not a fence/,
    );
  }
  for (const prefix of ['', '\ud800', 1]) {
    expect(() => etcdFence({ prefix } as object)).toThrow(/prefix must be text/);
  }
});

test('its comparison serves every client: here, etcd over JSON', async () => {
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const entry = await fence.enter(etcd, { ...at('i'), token: 33n });
  const write = async (value: string): Promise<boolean> => {
    const compare = entry.check.map(({ key, to }) => ({
      ...{ key: base64(key), target: 'MOD', result: 'EQUAL', mod_revision: String(to) },
    }));
    const success = [{ request_put: { key: base64('data/i'), value: base64(value) } }];
    const body = JSON.stringify({ compare, success });
    const response = await fetch(`${server.clientUrl}/v3/kv/txn`, { method: 'POST', body });
    const { succeeded = false } = (await response.json()) as { succeeded?: boolean };
    return succeeded;
  };
  expect(await write('1')).toBe(true);
  await fence.enter(etcd, { ...at('i'), token: 34n });
  expect(await write('2')).toBe(false);
  expect(await valuesOf(etcd, 'data/i')).toEqual({ 'data/i': '1' });
});

test('an entry looks again if another was made since it looked', async () => {
  let enterAnother = async (): Promise<unknown> => fence.enter(etcd, { ...at('j'), token: 2n });
  const slow: Pick<EtcdClient, 'txn'> = {
    async txn(txn) {
      const reply = await etcd.txn(txn);
      await enterAnother();
      enterAnother = async () => {};
      return reply;
    },
  };
  const entering = fence.enter(slow, { ...at('j'), token: 1n });
  await expect(entering).rejects.toMatchObject({ code: 'STALE_TOKEN', token: 1n, seen: 2n });
});
