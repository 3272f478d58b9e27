/** A client that counts its requests. */
import type { EtcdClient } from '../../../src/clients/etcd/client.ts';

type Verb = Exclude<keyof EtcdClient, 'close'>;

export interface Counting {
  readonly client: EtcdClient;
  readonly counts: Readonly<Record<Verb, number>>;
}

export function counting(client: EtcdClient): Counting {
  const counts = { txn: 0, grant: 0, keepAlive: 0, revoke: 0, timeToLive: 0, watch: 0 };
  const counted = <V extends Verb>(verb: V): EtcdClient[V] => {
    const ask = client[verb] as (asked: unknown) => unknown;
    return ((asked: unknown) => {
      counts[verb]++;
      return ask(asked);
    }) as EtcdClient[V];
  };
  return {
    counts,
    client: {
      ...{ txn: counted('txn'), grant: counted('grant'), keepAlive: counted('keepAlive') },
      ...{ revoke: counted('revoke'), timeToLive: counted('timeToLive'), watch: counted('watch') },
      close: () => client.close(),
    },
  };
}
