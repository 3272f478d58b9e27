/** Three servers: what a session makes of the loss of one, of two, and of a leader out of reach. */
import { afterAll, beforeEach, expect, it, onTestFinished } from 'vitest';
import type { ZookeeperSession } from '../../../src/clients/zookeeper/zookeeper-session.ts';
import { TcpProxy } from '../../servers/tcp-proxy.ts';
import { startZookeeperEnsemble } from '../../servers/zookeeper-ensemble.ts';
import { closing } from '../../support/closing.ts';
import { PACE, paced } from '../../support/this-run.ts';
import { until } from '../../support/until.ts';
import { heardFrom, startSession, untilState } from './sessions.ts';

const LONG = 60_000;

/** Long enough for a client on a busy machine to confirm it several times. */
const SHORT_MS = paced(3000);

const DATA = Buffer.from('x');

// A follower that is cut off serves its clients for 8 s before it notices, or for as much longer as
// the short session lasts: that is much less.
const ensemble = await startZookeeperEnsemble({ config: [`syncLimit=${Math.ceil(40 * PACE)}`] });
afterAll(() => ensemble.close());
beforeEach(async () => void (await ensemble.followers()));

function everywhere(): ZookeeperSession {
  const servers = ensemble.servers.map(({ address }) => address);
  return startSession({ servers }, LONG);
}

it('without a majority it is suspended, and goes on when there is one again', async () => {
  const session = everywhere();
  const heard = heardFrom(session);
  await session.create('/majority', { kind: 'ephemeral' });
  const followers = await ensemble.followers();
  for (const follower of followers) await follower.kill();
  await untilState(session, 'suspended');
  await Promise.all(followers.map((follower) => follower.start()));
  // The old leader may take it back for a moment, before it notices that it is alone.
  await until('served again', async () => (await session.setData('/majority', DATA)).version > 0);
  expect(await session.exists('/majority')).toMatchObject({ session: session.id });
  expect(heard.slice(0, 3)).toEqual(['connected', 'suspended', 'reconnected']);
  expect(heard).not.toContain('expired');
});

it('a follower without its leader confirms nothing, though it answers', async () => {
  const leader = await ensemble.leader();
  const [follower] = await ensemble.followers();
  const session = startSession({ servers: [follower.address] }, SHORT_MS);
  await session.create('/confirmed', { kind: 'ephemeral' });
  const started = session.now();
  await until('touched', async () => {
    await session.confirm();
    return session.touchedAt > started;
  });
  const watcher = startSession(leader.url);
  const gone: number[] = [];
  await watcher.exists('/confirmed', { watch: () => void gone.push(session.now()) });
  ensemble.cutOff(follower);
  onTestFinished(() => ensemble.rejoin(follower));
  const { touchedAt } = session;
  await until('the leader has ended it', async () => gone.length > 0);
  // The follower has not heard of that, and neither has the client.
  expect(session.state).toBe('connected');
  expect(await session.exists('/confirmed')).toBeDefined();
  expect(session.touchedAt).toBe(touchedAt);
  expect(gone[0]).toBeGreaterThanOrEqual(touchedAt + session.timeoutMs);
  await expect(session.confirm({ timeoutMs: 1500 })).rejects.toMatchObject({ outcome: 'unknown' });
  ensemble.rejoin(follower);
  await untilState(session, 'expired');
});

it('a server that lags behind what was seen is not taken', async () => {
  const leader = await ensemble.leader();
  const [follower] = await ensemble.followers();
  const proxy = closing(await TcpProxy.start(leader.port));
  const servers = [`127.0.0.1:${proxy.port}`, follower.address];
  const stale = startSession({ servers: [follower.address] }, LONG);
  await stale.create('/lag', { data: Buffer.from('old') });
  ensemble.cutOff(follower);
  onTestFinished(() => ensemble.rejoin(follower));
  // A new session needs a leader: it can only have been made over the proxy.
  const session = startSession({ servers }, LONG);
  await session.setData('/lag', Buffer.from('new'));
  proxy.refuse();
  proxy.reset();
  // Time for many attempts at the only server that listens.
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(session.state).toBe('suspended');
  expect((await stale.getData('/lag')).data.toString()).toBe('old');
  await proxy.accept();
  expect((await session.getData('/lag')).data.toString()).toBe('new');
});
