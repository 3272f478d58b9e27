/** One server that dies, stands still or cannot be reached, and what a session makes of it. */
import { afterAll, describe, expect, it } from 'vitest';
import type { ZookeeperSession } from '../../../src/clients/zookeeper/zookeeper-session.ts';
import { startZookeeper } from '../../servers/zookeeper-server.ts';
import { paced } from '../../support/this-run.ts';
import { until } from '../../support/until.ts';
import type { Proxied } from './sessions.ts';
import { heardFrom, Notes, startProxied, startSession, untilState } from './sessions.ts';

const server = await startZookeeper();
afterAll(() => server.close());

/** It outlives the restart of a server, on a busy machine too. */
const LONG = 60_000;
/** It ends soon, and lives when nothing is wrong with its server. */
const SHORT = paced(2000);

const proxied = (timeoutMs: number): Promise<Proxied> => startProxied(server.port, timeoutMs);

it('the session outlives a connection that breaks in the middle of an answer', async () => {
  const { proxy, session } = await proxied(LONG);
  const heard = heardFrom(session);
  await session.create('/big', { data: Buffer.alloc(50_000, 'x'), kind: 'ephemeral' });
  proxy.toClient.set({ cutAfter: 20_000 });
  await expect(session.getData('/big')).rejects.toMatchObject({
    ...{ reason: 'CONNECTIONLOSS', outcome: 'unknown', retryable: true },
  });
  const { data } = await session.getData('/big');
  expect(data.equals(Buffer.alloc(50_000, 'x'))).toBe(true);
  expect(heard).toEqual(['suspended', 'reconnected']);
});

it('a lasting silence costs the session, by our own clock before the server says so', async () => {
  const { proxy, session } = await proxied(SHORT);
  const heard = heardFrom(session);
  await session.create('/held', { kind: 'ephemeral' });
  const watcher = startSession(server.url);
  const order: string[] = [];
  await watcher.exists('/held', { watch: () => void order.push('gone at the server') });
  session.listen(({ to }) => to === 'expired' && order.push('told here'));
  proxy.set({ flow: 'swallow' });
  const asked = session.create('/never', { timeoutMs: 20_000 });
  await expect(asked).rejects.toMatchObject({ outcome: 'unknown' });
  await untilState(session, 'expired');
  await until('gone', async () => order.length === 2);
  expect(order).toEqual(['told here', 'gone at the server']);
  expect(heard).toEqual(['suspended', 'expired']);
  // It stays over, whatever becomes of the path.
  proxy.set();
  await expect(session.exists('/')).rejects.toMatchObject({
    ...{ reason: 'SESSIONEXPIRED', outcome: 'failed' },
  });
  expect(await watcher.exists('/never')).toBeUndefined();
});

describe('the end of a session', () => {
  it('that the server knows is told by it, to watches too', async () => {
    const session = startSession({ servers: [server.address] }, LONG);
    const [heard, notes] = [heardFrom(session), new Notes()];
    await session.create('/mortal', { kind: 'ephemeral' });
    await session.exists('/mortal', { watch: notes.watch });
    await session.getData('/', { watch: notes.watch });
    await server.endSession(session.id);
    await untilState(session, 'expired');
    await until('told', async () => heard.at(-1) === 'expired');
    // It may have been taken back once, before the end was read.
    expect(heard.slice(0, 2)).toEqual(['connected', 'suspended']);
    expect(notes.told.slice(-1)).toEqual(['expired /']);
    const next = startSession(server.url);
    expect(await next.exists('/mortal')).toBeUndefined();
    expect(next.id).not.toBe(session.id);
  });

  it('comes within a bound when no server can be reached', async () => {
    const { proxy, session } = await proxied(LONG);
    proxy.set({ flow: 'swallow' });
    const waiting = session.exists('/');
    const settled = expect(waiting).rejects.toMatchObject({ outcome: 'unknown' });
    await session.close();
    await settled;
    expect(session.state).toBe('closed');
  });

  it('of a session that never began is no matter of servers', async () => {
    // Nobody listens at the odd port beside a server's.
    const session = startSession({ servers: ['127.0.0.1:1'] });
    const asked = expect(session.exists('/', { timeoutMs: paced(300) })).rejects.toMatchObject({
      ...{ reason: 'OPERATIONTIMEOUT', outcome: 'failed', retryable: true },
      message: expect.stringContaining('ECONNREFUSED'),
    });
    await asked;
    await session.close();
    expect(session.state).toBe('closed');
  });
});

describe('watches', () => {
  it('are told what happened while there was no connection', async () => {
    const { proxy, session } = await proxied(LONG);
    const other = startSession(server.url);
    for (const path of ['/data', '/list', '/gone', '/quiet']) await session.create(path);
    const notes = new Notes();
    await session.getData('/data', { watch: notes.watch });
    await session.getChildren('/list', { watch: notes.watch });
    await session.getData('/gone', { watch: notes.watch });
    await session.exists('/comes', { watch: notes.watch });
    await session.getData('/quiet', { watch: notes.watch });
    proxy.refuse();
    proxy.reset();
    await untilState(session, 'suspended');
    await other.setData('/data', Buffer.from('new'));
    await other.create('/list/x');
    await other.delete('/gone');
    await other.create('/comes');
    await proxy.accept();
    const told = [...(await notes.until(4))].sort();
    expect(told).toEqual(['changed /data', 'children /list', 'created /comes', 'deleted /gone']);
    // And they are in force again.
    await other.setData('/quiet', Buffer.from('new'));
    expect((await notes.until(5)).slice(4)).toEqual(['changed /quiet']);
  });

  it('of thousands of long paths are set anew in pieces that the server takes', async () => {
    const { proxy, session } = await proxied(LONG);
    const [notes, heard] = [new Notes(), heardFrom(session)];
    // 1.5 MB of paths, more than a server takes at once.
    const paths = Array.from({ length: 3000 }, (_, n) => `/${'p'.repeat(500)}${n}`);
    await Promise.all(paths.map((path) => session.exists(path, { watch: notes.watch })));
    proxy.reset();
    await until('reconnected', async () => heard.includes('reconnected'));
    const ends = [paths[0] as string, paths[2999] as string];
    for (const path of ends) await session.create(path, { kind: 'ephemeral' });
    expect(await notes.until(2)).toEqual(ends.map((path) => `created ${path}`));
    expect(heard).toEqual(['suspended', 'reconnected']);
  });
});

describe('a lost reply', () => {
  const ID = '11111111-2222-3333-4444-555555555555';

  /** Makes the server do it, and the answer never come. */
  async function loseReply<T>(
    { proxy }: Proxied,
    work: () => Promise<T>,
    done: () => Promise<boolean>,
  ): Promise<T> {
    proxy.toClient.set({ flow: 'swallow' });
    const answer = work();
    answer.catch(() => {});
    await until('done at the server', done);
    proxy.reset();
    proxy.toClient.set();
    return answer;
  }

  it('to a create or a delete leaves it unknown whether it happened', async () => {
    const bed = await proxied(LONG);
    const { session } = bed;
    const other = startSession(server.url);
    const there = async (): Promise<boolean> => (await other.exists('/lost')) !== undefined;
    const lost = { reason: 'CONNECTIONLOSS', outcome: 'unknown', retryable: true };
    const made = loseReply(bed, () => session.create('/lost'), there);
    await expect(made).rejects.toMatchObject(lost);
    await session.exists('/');
    const gone = loseReply(
      bed,
      () => session.delete('/lost'),
      async () => !(await there()),
    );
    await expect(gone).rejects.toMatchObject(lost);
    await expect(session.delete('/lost')).rejects.toMatchObject({ reason: 'NONODE' });
  });

  it('to a protected create is found again: one node, and it is ours', async () => {
    const bed = await proxied(LONG);
    const other = startSession(server.url);
    await other.create('/queue');
    const count = async (): Promise<number> => (await other.getChildren('/queue')).children.length;
    const terms = { parent: '/queue', name: 'lock-', id: ID };
    const work = (): ReturnType<ZookeeperSession['createProtected']> =>
      bed.session.createProtected(terms);
    const { path, stat } = await loseReply(bed, work, async () => (await count()) === 1);
    expect(path).toBe(`/queue/_c_${ID}-lock-0000000000`);
    expect(stat.session).toBe(bed.session.id);
    expect(await count()).toBe(1);
    expect((await bed.session.createProtected({ ...terms, tried: true })).path).toBe(path);
    expect(await bed.session.findProtected(terms)).toEqual({ path, stat });
  });

  it('leaves a node that an earlier session made, which is not adopted', async () => {
    const earlier = startSession(server.url);
    await earlier.create('/heir');
    const terms = { parent: '/heir', name: 'lock-', id: ID };
    const old = await earlier.createProtected(terms);
    const session = startSession(server.url);
    const own = await session.createProtected({ ...terms, tried: true });
    expect(own.stat.czxid).toBeGreaterThan(old.stat.czxid);
    expect((await session.getChildren('/heir')).children).toEqual([own.path.slice(6)]);
  });

  it('ends with the session: nothing is made in another', async () => {
    const { proxy, session } = await proxied(SHORT);
    proxy.set({ flow: 'swallow' });
    const made = session.createProtected({ parent: '/', name: 'x-', id: ID, timeoutMs: 20_000 });
    await expect(made).rejects.toMatchObject({ outcome: 'unknown' });
    proxy.set();
    const { children } = await startSession(server.url).getChildren('/');
    expect(children.filter((name) => name.startsWith('_c_'))).toEqual([]);
  });

  it('again and again, at any byte: each node once, none lost', async () => {
    const { proxy, session } = await proxied(LONG);
    await session.create('/storm');
    const made: string[] = [];
    for (let wave = 0; wave < 30; wave += 1) {
      const direction = wave % 2 === 0 ? proxy.toClient : proxy.toServer;
      direction.set({ cutAfter: 1 + wave * 47 });
      const ids = Array.from({ length: 10 }, (_, n) => `storm-${wave}-${n}`);
      const terms = ids.map((id) => ({ parent: '/storm', name: 'lock-', id }));
      const nodes = await Promise.all(terms.map((one) => session.createProtected(one)));
      made.push(...nodes.map(({ path }) => path.slice('/storm/'.length)));
      proxy.set();
    }
    const { children } = await startSession(server.url).getChildren('/storm');
    expect([...children].sort()).toEqual(made.sort());
  });
});
