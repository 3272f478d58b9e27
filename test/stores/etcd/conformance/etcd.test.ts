/** The conformance suite on a real etcd. */
import { etcdStore } from 'holdfast/etcd';
import { etcdClient } from '../../../../src/clients/etcd/etcd-client.ts';
import { etcdStoreOf } from '../../../../src/stores/etcd/etcd-store.ts';
import { KeySpace } from '../../../../src/stores/etcd/layout.ts';
import { movableClock } from '../../../methods/conformance/movable-clock.ts';
import { suite } from '../../../methods/conformance/suite.ts';
import { HANG_MS, paced } from '../../../support/this-run.ts';
import { sharedServer } from '../fault-bed.ts';

const { clientUrl: address } = await sharedServer();
const keys = new KeySpace('holdfast/');
suite({
  create({ maxWaiters = 10_000 }) {
    // The server's leases go on as they are; what this process believes of them leaps.
    const clock = movableClock();
    const client = () => etcdClient(address, { readable: keys.tombstone('') });
    return {
      connect: () => etcdStoreOf({ client: client(), keys, clock, maxWaiters }),
      shortMs: paced(600),
      leap: (ms) => clock.move(ms),
    };
  },
  traits: etcdStore(address).traits,
  lacks: ['raise'],
  forgets: false,
  leaps: true,
  patienceMs: HANG_MS,
});
