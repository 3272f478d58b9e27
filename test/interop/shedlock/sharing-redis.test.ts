/** Locks that are shared with the real ShedLock on Redis, in both directions. */
import { afterAll } from 'vitest';
import { javaDriver } from '../../methods/sharing/java.ts';
import { LIBRARIES } from '../../methods/sharing/libraries.ts';
import { LEASE_MS, pairSuite } from '../../methods/sharing/pair-suite.ts';
import { RedisServer } from '../../servers/redis-server.ts';

const server = await RedisServer.start();
afterAll(() => server.close());

pairSuite('ShedLock 7', {
  kind: 'redis',
  foreign: () => javaDriver('ShedlockDriver', LIBRARIES.new, server.url, `${LEASE_MS}`),
  own: () => ['shedlock-redis', server.url, { afterDataLoss: 'trust' }],
  tellsLoss: false,
  // Unless it is told `safeUpdate(true)`.
  careless: true,
});
