import type { Client } from 'hazelcast-client';
import type { HazelcastClient } from 'holdfast/hazelcast';
import { HazelcastCluster, type HazelcastOptions } from '../../servers/hazelcast-cluster.ts';

/** Never asked: the traits of a store are those of all. */
export const NO_CLIENT: HazelcastClient = {
  getCPSubsystem: () => undefined,
  getCluster: () => undefined,
  getMap: async () => undefined,
};

export interface WithClients {
  readonly cluster: HazelcastCluster;
  /** The first of them. */
  readonly client: Client;
  readonly clients: readonly Client[];
  close(): Promise<void>;
}

/** A cluster, and so many clients of it. */
export async function startWithClients(
  count = 1,
  options: HazelcastOptions = {},
): Promise<WithClients> {
  const cluster = await HazelcastCluster.start(options);
  const clients: Client[] = [];
  for (let n = 0; n < count; n++) clients.push(await cluster.connect());
  const close = async (): Promise<void> => {
    for (const client of clients) await client.shutdown();
    await cluster.close();
  };
  return { cluster, client: clients[0] as Client, clients, close };
}
