/** Documents in a real cluster of Hazelcast: three members, all of the CP Subsystem. */
import { hazelcastStore } from 'holdfast/hazelcast';
import { expect, test } from 'vitest';
import type { Documents } from '../../../src/stores/document/documents.ts';
import { checkClient, type HazelcastClient } from '../../../src/stores/hazelcast/client.ts';
import { hazelcastDocuments } from '../../../src/stores/hazelcast/documents.ts';
import { examined } from '../../cli/examined.ts';
import { HazelcastCluster, missingHazelcast } from '../../servers/hazelcast-cluster.ts';
import { until } from '../../support/until.ts';
import { documentsTests, sharedServer } from '../document/service.ts';
import { startWithClients } from './with-clients.ts';

const shared = sharedServer(await missingHazelcast(), () => startWithClients());

const documentsOf = (one: HazelcastClient, options = {}): Documents =>
  hazelcastDocuments(async () => checkClient(one, 'test'), options);

documentsTests({ create: () => documentsOf(shared().client), has: ['watch'] });

test('names with marks of Hazelcast are different names', async () => {
  const documents = documentsOf(shared().client, { prefix: 'marks/' });
  const names = ['a', 'a ', ' a', 'a@b', 'a@c', 'a%40b', 'a@', '@', 'größe'];
  for (const name of names) {
    expect(await documents.put(name, `of ${name}`, undefined)).not.toBe('other');
  }
  for (const name of names) expect((await documents.get(name)).text).toBe(`of ${name}`);
});

test('the doctor asks the members for their version', async () => {
  const { server, time } = await examined(shared().cluster.url, {}, false);
  expect([server?.says, time]).toEqual(['Hazelcast 5.4.0, 3 members', undefined]);
});

test('a member that crashes takes nothing along, and watches go on', async () => {
  const { cluster, client } = shared();
  const documents = documentsOf(client);
  let told = 0;
  await documents.put('crash', '1', undefined);
  const watch = await documents.watch?.('crash', () => told++);
  const [, member] = cluster.members;
  await member?.kill();
  expect((await documents.get('crash')).text).toBe('1');
  const before = told;
  await until('told', async () => {
    const { text = '', version } = await documents.get('crash');
    await documents.put('crash', `${text}.`, version);
    return told > before;
  });
  await watch?.[Symbol.asyncDispose]();
});

test('unsafe mode is refused before the first grant, unless it is accepted', async () => {
  const unsafe = await HazelcastCluster.start({ cpMembers: 0 });
  const other = await unsafe.connect();
  try {
    for (const group of ['default', 'locks']) {
      const refused = documentsOf(other, { group }).put('a', '1', undefined);
      await expect(refused).rejects.toMatchObject({
        ...{ code: 'STORE', retryable: false, outcome: 'failed' },
        message: expect.stringMatching(/cp-member-count 0.*allowUnsafe/),
      });
    }
    const accepted = documentsOf(other, { allowUnsafe: true });
    expect(await accepted.put('a', '1', undefined)).toEqual({ version: '1' });
  } finally {
    await other.shutdown();
    await unsafe.close();
  }
});

test('what is no client, and unknown options, are refused', () => {
  const { client } = shared();
  for (const wrong of [undefined, {}, 'hazelcast://a', { getMap() {} }]) {
    expect(() => hazelcastStore(wrong as never)).toThrow(/client of the package hazelcast-client/);
  }
  expect(() => hazelcastStore(client, { groups: 'a' } as never)).toThrow(/no option "groups"/);
  expect(() => hazelcastStore(client, { allowUnsafe: 1 } as never)).toThrow(/true or false/);
});

test('a client that is shut down is told as what it is', async () => {
  const one = await shared().cluster.connect();
  await one.shutdown();
  const put = documentsOf(one).put('a', '1', undefined);
  await expect(put).rejects.toMatchObject({ code: 'STORE', retryable: false, outcome: 'failed' });
});
