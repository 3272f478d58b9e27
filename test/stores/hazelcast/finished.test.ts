import { describe, test } from 'vitest';
import { allEnd } from '../../methods/processes/finished.ts';
import { HazelcastCluster, missingHazelcast } from '../../servers/hazelcast-cluster.ts';
import { sharedServer } from '../document/service.ts';

/** Sessions last as long as the store of fenced locks takes them to. */
const cluster = sharedServer(await missingHazelcast(), () =>
  HazelcastCluster.start({ sessionTtlSeconds: 60 }),
);

// A client that a store has made of a URL keeps the process alive until it is closed.
describe('a program that has nothing left to do ends', () => {
  test.for(['hazelcast', 'fenced locks'] as const)('with %s', async (client) => {
    await allEnd({ url: cluster().addresses.join(), client });
  });
});
