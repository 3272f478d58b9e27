/** Plain locks shared with the real libraries of Go and Python, on one server. */
import { afterAll, beforeAll, describe } from 'vitest';
import { goDriver, missingDriver } from '../../methods/sharing/go.ts';
import { pairSuite } from '../../methods/sharing/pair-suite.ts';
import { pythonDriver } from '../../methods/sharing/python.ts';
import { RedisServer } from '../../servers/redis-server.ts';

// To build it takes longer than a hook may.
await missingDriver('redis');

let server: RedisServer;
beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(() => server.close());

const go = (library: string) => () => goDriver('redis', library, `${server.host}:${server.port}`);

describe.each([
  ['redsync', 'v4.18.1', go('redsync')],
  ['redislock', 'v0.9.4', go('redislock')],
  ['redis-py', '6.1.0', () => pythonDriver(server.url)],
] as const)('beside %s', (name, version, foreign) => {
  pairSuite(name, {
    ...{ kind: 'mutex', version, foreign },
    own: () => ['plain-redis', server.url, { afterDataLoss: 'trust', retry: 20 }],
  });
});
