/**
 * Floor: the fenced lock of the client itself, with one client for the process. An acquisition is
 * one request, whose waiters stand in line in the CP group, and so is its release. Nothing here
 * notices that the session is over.
 */
import { Client } from 'hazelcast-client';
import type { Connect, Connected } from '../measuring/subject.ts';

/** Of `hazelcast://host:port,host:port/cluster`. */
export function hazelcastClient(url: string): Promise<Client> {
  const [, members = '', clusterName = ''] = /^hazelcast:\/\/([^/]+)\/([^/?]+)/.exec(url) ?? [];
  return Client.newHazelcastClient({
    ...{ clusterName, network: { clusterMembers: members.split(',') } },
    properties: { 'hazelcast.logging.level': 'OFF' },
  });
}

async function fencedLock(url: string): Promise<Connected> {
  const client = await hazelcastClient(url);
  return {
    task: (resource) => {
      const finding = client.getCPSubsystem().getLock(`bare:${resource}`);
      return async () => {
        const lock = await finding;
        const fence = await lock.lock();
        return () => lock.unlock(fence);
      };
    },
    close: () => client.shutdown(),
  };
}

export const FENCED_FLOOR = 'floor: FencedLock, hazelcast-client';

export const floors: Readonly<Record<string, Connect>> = { [FENCED_FLOOR]: fencedLock };
