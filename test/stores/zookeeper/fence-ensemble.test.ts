/** The fence in ZooKeeper, where a server lags behind the others. */
import { expect, test } from 'vitest';
import { startSession } from '../../clients/zookeeper/sessions.ts';
import { TcpProxy } from '../../servers/tcp-proxy.ts';
import { startZookeeperEnsemble } from '../../servers/zookeeper-ensemble.ts';
import { closing } from '../../support/closing.ts';
import { at, fence, LONG, textAt, writing } from './fence-bed.ts';

// Elections and starts of servers take a second, and on a busy machine twenty.
test('whoever has entered reads what was written before', async () => {
  // A server that is cut off serves its clients for 8 s before it notices.
  const ensemble = closing(await startZookeeperEnsemble({ config: ['syncLimit=40'] }));
  const leader = await ensemble.leader();
  const [lagging] = await ensemble.followers();
  const proxy = closing(await TcpProxy.start(lagging.port));

  const older = startSession({ servers: [leader.address] }, LONG);
  await older.create('/stock', { data: Buffer.from('10') });
  const newer = startSession({ servers: [`127.0.0.1:${proxy.port}`] }, LONG);
  const before = await fence.enter(older, { ...at('stock'), token: 33n });
  await newer.sync();
  expect(await textAt(newer, '/stock')).toBe('10');

  ensemble.cutOff(lagging);
  await before.write(writing('/stock', '9'));
  // A read alone is answered from what the server has.
  expect(await textAt(newer, '/stock')).toBe('10');
  const entering = fence.enter(newer, { ...at('stock'), token: 34n });
  proxy.lead(leader.port);
  proxy.reset();
  const after = await entering;
  expect(await textAt(newer, '/stock')).toBe('9');
  await expect(before.write(writing('/stock', '8'))).rejects.toMatchObject({
    code: 'STALE_TOKEN',
    seen: 34n,
  });
  await after.write(writing('/stock', '8'));
});
