/** Lists of all names, which may be longer than a connection takes, are in nobody's way. */
import { type ZookeeperSession, zookeeperClient } from 'holdfast/zookeeper';
import { expect, test } from 'vitest';
import { MAX_ANSWER } from '../../../src/clients/zookeeper/wire/jute.ts';
import { heardFrom } from '../../clients/zookeeper/sessions.ts';
import { claimOf } from '../../methods/faults/bed.ts';
import { listed } from '../../support/listed.ts';
import { counting } from './clients.ts';
import { Bed, sharedServer } from './fault-bed.ts';

const server = await sharedServer();

/** Nearly as long as a server takes them. */
const NAME_BYTES = 900_000;

test('a list that is too long fails alone, and says why', async () => {
  await using bed = new Bed(server);
  const { client, sessions } = counting(zookeeperClient(server.url));
  const store = bed.storeOf(client);
  const held = claimOf('held');
  expect(await store.claim([held])).toMatchObject([{ state: 'held' }]);
  expect(await listed(store.list?.(''))).toEqual(['held']);
  const told = heardFrom(sessions[0] as ZookeeperSession);
  for (let n = 0; n <= MAX_ANSWER / NAME_BYTES; n++) {
    const name = String(n).padEnd(NAME_BYTES, 'x');
    await bed.looking.create(`${bed.path}/${name}`, { kind: 'container' });
  }
  const refusal = { reason: 'TOOLONG', retryable: false, outcome: 'failed' };
  await expect(listed(store.list?.(''))).rejects.toMatchObject(refusal);
  await expect(listed(store.list?.(''))).rejects.toMatchObject(refusal);
  // The connection that keeps the claims has not been lost.
  expect(told).toEqual([]);
  expect(sessions).toHaveLength(2);
  expect(await store.renew([held])).toMatchObject([{ state: 'held' }]);
});
