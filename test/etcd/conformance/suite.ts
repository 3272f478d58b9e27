/** The conformance suite on a real etcd. */
import { etcdStore } from 'holdfast/etcd';
import { conformance } from 'holdfast/testkit';
import { afterAll, test } from 'vitest';
import { type EtcdOptions, startEtcd } from '../../servers/etcd-server.ts';

export async function suite(options?: EtcdOptions): Promise<void> {
  const server = await startEtcd(options);
  afterAll(() => server.close());
  const address = server.clientUrl;
  conformance({
    test: test.concurrent,
    skip: (name, reason) => test(name, (context) => context.skip(reason)),
    create: ({ maxWaiters }) => ({
      connect: () => etcdStore(address, maxWaiters === undefined ? {} : { maxWaiters }),
    }),
    traits: etcdStore(address).traits,
    lacks: ['raise'],
    forgets: false,
  });
}
