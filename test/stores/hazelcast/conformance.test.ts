import type { Client } from 'hazelcast-client';
import { hazelcastStore } from 'holdfast/hazelcast';
import { HazelcastCluster, missingHazelcast } from '../../servers/hazelcast-cluster.ts';
import { documentConformance } from '../document/conformance.ts';
import { NO_CLIENT } from './no-client.ts';

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
  traits: hazelcastStore(NO_CLIENT).traits,
  lacks: ['list'],
});
