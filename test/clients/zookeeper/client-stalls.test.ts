/** A server of an ensemble stands still, and its clients go elsewhere and come back. */
import { expect, it } from 'vitest';
import type { ZookeeperSession } from '../../../src/clients/zookeeper/zookeeper-session.ts';
import { TcpProxy } from '../../servers/tcp-proxy.ts';
import { startZookeeperEnsemble } from '../../servers/zookeeper-ensemble.ts';
import { closing } from '../../support/closing.ts';
import { until } from '../../support/until.ts';
import { startSession, untilState } from './sessions.ts';

it('what was left at a server that stood still is not made once it goes on', async () => {
  // It stays one of them for as long as it stands still here.
  const ensemble = closing(await startZookeeperEnsemble({ config: ['syncLimit=100'] }));
  const [stalled] = await ensemble.followers();
  const leader = await ensemble.leader();
  const watcher = startSession(leader.url);
  for (let round = 0; round < 3; round++) {
    const ways = [
      closing(await TcpProxy.start(stalled.port)),
      closing(await TcpProxy.start(leader.port)),
    ];
    const [first, second] = ways as [TcpProxy, TcpProxy];
    second.refuse();
    const servers = ways.map(({ port }) => `127.0.0.1:${port}`);
    const session: ZookeeperSession = startSession({ servers }, 12_000);
    await session.exists('/');
    stalled.pause();
    const path = `/left-${round}`;
    const lost = session.create(path, { kind: 'ephemeral', timeoutMs: 500 });
    await expect(lost).rejects.toMatchObject({ outcome: 'unknown' });
    // It gives the server up, greets it in vain, and is served elsewhere.
    await untilState(session, 'suspended');
    await new Promise((resolve) => setTimeout(resolve, 500));
    await second.accept();
    await until('served elsewhere', async () => (await session.exists('/')) !== undefined);
    await session.sync();
    expect(await session.exists(path)).toBe(undefined);
    stalled.resume();
    await until('it goes on', async () => (await stalled.mode()) === 'follower');
    // What it has read is carried out before its next reply.
    const late = startSession({ servers: [stalled.address] }, 12_000);
    await late.sync();
    await watcher.sync();
    expect(await watcher.exists(path)).toBe(undefined);
    await session.close();
    await late.close();
    first.refuse();
  }
});
