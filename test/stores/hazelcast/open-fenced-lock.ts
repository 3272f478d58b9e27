/** The store of own-program.ts. Arguments: the TTL of sessions in ms, and addresses of members. */
import type { Store } from 'holdfast';
import { fencedLockStore } from 'holdfast/hazelcast';
import { hazelcastClient } from '../../servers/hazelcast-cluster.ts';

const [sessionTtl, ...members] = process.argv.slice(3);
const client = await hazelcastClient(members);

export function open(): Store {
  return fencedLockStore(client, { sessionTtl: Number(sessionTtl) });
}
