/** Plain locks shared with the real libraries of Go and Python, on one server. */
import { afterAll, describe } from 'vitest';
import type { ForeignCommand } from '../../methods/sharing/foreign-program.ts';
import { goDriver, missingDriver } from '../../methods/sharing/go.ts';
import { pairSuite } from '../../methods/sharing/pair-suite.ts';
import { pythonDriver } from '../../methods/sharing/python.ts';
import { RedisServer } from '../../servers/redis-server.ts';

// To build it takes longer than a hook may.
await missingDriver('redis');

const server = await RedisServer.start();
afterAll(() => server.close());

function go(library: string, ...pause: readonly string[]): Promise<ForeignCommand> {
  return goDriver('redis', library, `${server.host}:${server.port}`, ...pause);
}

// The second program pauses as the library does by itself: redsync for 50 to 250 ms, at random. For
// redislock, the caller chooses.
describe.each([
  ['redsync', 'v4.18.1', () => go('redsync'), () => go('redsync', '150ms')],
  ['redislock', 'v0.9.4', () => go('redislock'), () => go('redislock', '100ms')],
  ['redis-py', '6.1.0', () => pythonDriver(server.url), () => pythonDriver(server.url, '0.1')],
] as const)('beside %s', (name, version, foreign, patient) => {
  pairSuite(name, {
    ...{ kind: 'mutex', version, foreign, patient },
    own: () => ['plain-redis', server.url, { afterDataLoss: 'trust', retry: 20 }],
  });
});
