import type { Client } from 'hazelcast-client';
import { hazelcastStore } from 'holdfast/hazelcast';
import { HazelcastCluster, missingHazelcast } from '../../servers/hazelcast-cluster.ts';
import { documentConformance } from '../document/conformance.ts';

/** Never asked: the traits are those of all. */
const NONE = { getCPSubsystem() {}, getCluster() {}, getMap: async () => {} };

documentConformance({
  why: await missingHazelcast(),
  async start() {
    const cluster = await HazelcastCluster.start();
    const client: Client = await cluster.connect();
    const close = async (): Promise<void> => {
      await client.shutdown();
      await cluster.close();
    };
    return { client, close };
  },
  store: ({ client }, options) => hazelcastStore(client, options),
  traits: hazelcastStore(NONE).traits,
  lacks: ['list'],
});
