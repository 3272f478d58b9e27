/** The conformance suite on `FencedLock`s; without a queue, much of it is not promised. */
import { fencedLockStore } from 'holdfast/hazelcast';
import { suite } from '../../methods/conformance/suite.ts';
import { missingHazelcast } from '../../servers/hazelcast-cluster.ts';
import { HANG_MS, paced } from '../../support/this-run.ts';
import { sharedServer } from '../document/service.ts';
import { NO_CLIENT, startWithClients } from './with-clients.ts';

/** As long as the longest TTL, which a session would cut short. */
const SESSION_MS = 2 ** 31 - 1;

const shared = sharedServer(await missingHazelcast(), () =>
  startWithClients(1, { sessionTtlSeconds: Math.ceil(SESSION_MS / 1000) }),
);

suite({
  create: () => ({
    connect: () => fencedLockStore(shared().client, { sessionTtl: SESSION_MS }),
    shortMs: paced(600),
  }),
  traits: fencedLockStore(NO_CLIENT).traits,
  patienceMs: HANG_MS,
  lacks: ['claimAll', 'downgrade', 'raise', 'evict', 'keep', 'recall', 'handOver', 'list'],
});
