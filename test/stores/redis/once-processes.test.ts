import { onTestFinished, test } from 'vitest';
import { stallBeforeTheRecord } from '../../methods/processes/stalled-keeper.ts';
import { RedisServer } from '../../servers/redis-server.ts';

test('SIGSTOP between the work and its record, on Redis', async () => {
  const server = await RedisServer.start();
  onTestFinished(() => server.close());
  await stallBeforeTheRecord(`${server.url}?afterDataLoss=trust`);
});
