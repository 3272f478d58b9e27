import { hazelcastStore } from 'holdfast/hazelcast';
import { test } from 'vitest';
import { allEnd } from '../../methods/processes/finished.ts';
import { missingHazelcast } from '../../servers/hazelcast-cluster.ts';
import { startWithClients } from './with-clients.ts';

const why = await missingHazelcast();

// A client that a store has made of a URL keeps the process alive until it is closed.
test('a program that has nothing left to do ends', async ({ skip, onTestFinished }) => {
  skip(why !== undefined, why);
  const { cluster, client, close } = await startWithClients();
  onTestFinished(() => close());
  const url = cluster.addresses.join();
  await allEnd(hazelcastStore(client), { url, client: 'hazelcast' });
});
