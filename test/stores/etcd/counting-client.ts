/** A client that counts its requests. */
import type { EtcdClient } from '../../../src/clients/etcd/client.ts';

type Verb = Exclude<keyof EtcdClient, 'close'>;

export interface Counting {
  readonly client: EtcdClient;
  readonly counts: Readonly<Record<Verb, number>>;
}

export function counting(client: EtcdClient): Counting {
  const counts = { txn: 0, grant: 0, keepAlive: 0, revoke: 0, timeToLive: 0, watch: 0 };
  const counted = (verb: Verb) => (asked: never) => {
    counts[verb]++;
    return (client[verb] as (asked: never) => unknown)(asked);
  };
  const verbs = Object.keys(counts).map((verb) => [verb, counted(verb as Verb)] as const);
  return { counts, client: { ...client, ...Object.fromEntries(verbs) } };
}
