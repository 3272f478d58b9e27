/** The conformance suite on `FencedLock`s; without a queue, much of it is not promised. */
import type { Client } from 'hazelcast-client';
import { fencedLockStore } from 'holdfast/hazelcast';
import { afterAll, beforeAll, beforeEach } from 'vitest';
import { suite } from '../../methods/conformance/suite.ts';
import { HazelcastCluster, missingHazelcast } from '../../servers/hazelcast-cluster.ts';
import { HANG_MS, paced } from '../../support/this-run.ts';
import { NO_CLIENT } from './no-client.ts';

const why = await missingHazelcast();
beforeEach(({ skip }) => skip(why !== undefined, why));

/** As long as the longest TTL, which a session would cut short. */
const SESSION_MS = 2 ** 31 - 1;

let cluster: HazelcastCluster;
let client: Client;
beforeAll(async () => {
  if (why !== undefined) return;
  cluster = await HazelcastCluster.start({ sessionTtlSeconds: Math.ceil(SESSION_MS / 1000) });
  client = await cluster.connect();
});
afterAll(async () => {
  await client?.shutdown();
  await cluster?.close();
});

suite({
  create: () => ({
    connect: () => fencedLockStore(client, { sessionTtl: SESSION_MS }),
    shortMs: paced(600),
    dispose: () => {},
  }),
  traits: fencedLockStore(NO_CLIENT).traits,
  patienceMs: HANG_MS,
  lacks: ['downgrade', 'raise', 'evict', 'keep', 'recall', 'list'],
});
