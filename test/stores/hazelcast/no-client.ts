import type { HazelcastClient } from 'holdfast/hazelcast';

/** Never asked: the traits of a store are those of all. */
export const NO_CLIENT: HazelcastClient = {
  getCPSubsystem: () => undefined,
  getCluster: () => undefined,
  getMap: async () => undefined,
};
