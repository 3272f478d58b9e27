import { afterAll, describe, test } from 'vitest';
import { ringOfProcesses, ringWithADeadProcess } from '../../methods/processes/deadlock-scenes.ts';
import { RedisServer } from '../../servers/redis-server.ts';

const server = await RedisServer.start();
afterAll(() => server.close());
const url = `${server.url}?afterDataLoss=trust`;

describe('processes that wait for each other, on Redis', () => {
  test('three: all are told, and one is rejected', () => ringOfProcesses(url, 3));
  test('one is killed: no deadlock', () => ringWithADeadProcess(url));
});
