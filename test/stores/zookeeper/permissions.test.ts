/** The user of the page may do what is needed, and nothing else; whoever may not is told so. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createLocks, evict, type Locks, list } from 'holdfast';
import { createElection } from 'holdfast/election';
import type { Acl, ZookeeperOptions, ZookeeperStoreOptions } from 'holdfast/zookeeper';
import { zookeeperStore } from 'holdfast/zookeeper';
import { beforeAll, expect, onTestFinished, test } from 'vitest';
import { RightsSession } from '../../clients/zookeeper/rights.ts';
import { startSession } from '../../clients/zookeeper/sessions.ts';
import { claimOf, hasWaiter, LONG_TTL_MS } from '../../methods/faults/bed.ts';
import { useAll } from '../../methods/faults/verbs.ts';
import { findProgram } from '../../servers/programs.ts';
import { closing } from '../../support/closing.ts';
import { sharedServer } from './fault-bed.ts';

const page = readFileSync('docs/stores/zookeeper.md', 'utf8');
const [, commands = ''] = /^```sh\n(hash=[\s\S]*?)^```$/m.exec(page) ?? [];

const ADMIN = { scheme: 'digest', auth: 'admin:of everything' };
const USER = { scheme: 'digest', auth: 'locks:secret' };
const OTHER = { scheme: 'digest', auth: 'other:secret' };

/** By the letters of `zkCli.sh`. */
const PERMISSIONS = { r: 1, w: 2, c: 4, d: 8, a: 16 } as const;

const DENIED = {
  ...{ code: 'STORE', reason: 'NOAUTH', retryable: false, outcome: 'failed' },
  message: expect.stringMatching(/does not permit that\. Check auth and the ACL of the node/),
};

const server = await sharedServer();
beforeAll(async () => {
  const stub = 'zkCli.sh() { printf "%s\\n" "$@"; }';
  const openssl = `openssl() { ${(await findProgram('openssl')).join(' ')} "$@"; }`;
  const said = execFileSync('bash', ['-c', `${stub}\n${openssl}\n${commands}`]).toString();
  const [command, path = '', data, acl = ''] = said.split('\n');
  expect([command, data]).toEqual(['create', '']);
  const [, scheme = '', id = '', letters = ''] = /^(\w+):(.*):(\w+)$/.exec(acl) ?? [];
  const session = new RightsSession({ servers: [server.address], auth: ADMIN });
  await session.create(path, { acl: [{ scheme, id, perms: permissions(letters) }] });
  // Nobody else may do anything at the top.
  await session.setAcl('/', [{ scheme: 'auth', id: '', perms: permissions('cdrwa') }]);
  await session.close();
});

function permissions(letters: string): number {
  const all = [...letters].map((letter) => PERMISSIONS[letter as keyof typeof PERMISSIONS]);
  return all.reduce((sum, each) => sum + each, 0);
}

function locksOf(who: Omit<ZookeeperOptions, 'servers'>, options?: ZookeeperStoreOptions): Locks {
  const store = zookeeperStore({ servers: [server.address], ...who }, options);
  const locks = createLocks(store, { ttl: LONG_TTL_MS });
  onTestFinished(() => locks.close({ drain: 0 }));
  return locks;
}

/** A node that anybody may use in these ways, made by one who may do all. */
async function nodeFor(letters: string, path: string): Promise<void> {
  const session = startSession({ servers: [server.address], auth: ADMIN });
  await session.create(path, {
    acl: [{ scheme: 'world', id: 'anyone', perms: permissions(letters) }],
  });
}

async function useEverything(locks: Locks): Promise<void> {
  await useAll(locks, { passes: false });
  const permits = locks.semaphore('permits', { limit: 3 });
  const [two, one] = await Promise.all([permits.acquire({ permits: 2 }), permits.acquire()]);
  await Promise.all([two.release(), one.release()]);
  expect(await locks.mutex('config2').tryAcquire()).not.toBeNull();
  const standings = createElection(locks, 'observed').observe();
  expect((await standings.next()).value).toMatchObject({ leaders: [], missed: false });
  await standings.return();
}

test('all verbs', async () => {
  await useEverything(locksOf({ auth: USER }));
  const [user, password] = USER.auth.split(':');
  const url = `zookeeper://${user}:${password}@${server.address}`;
  await using locks = createLocks(zookeeperStore(url));
  await locks.mutex('by URL').run(async () => {});
});

test('nothing of others, nor with another password', async () => {
  for (const who of [{}, { auth: OTHER }, { auth: { ...USER, auth: 'locks:Secret' } }]) {
    const locks = locksOf(who);
    await expect(locks.mutex('a').acquire()).rejects.toMatchObject(DENIED);
    await expect(locks.mutex('a').tryAcquire()).rejects.toMatchObject(DENIED);
    await expect(locks.inspect('a')).rejects.toMatchObject(DENIED);
  }
  const elsewhere = locksOf({ auth: USER }, { path: '/elsewhere' });
  const atTop = { ...DENIED, message: expect.stringMatching(/NOAUTH -102 at "\/elsewhere"/) };
  await expect(elsewhere.mutex('a').acquire()).rejects.toMatchObject(atTop);
});

test('a kind of credentials that no server knows', async () => {
  const locks = locksOf({ auth: { scheme: 'carrier-pigeon', auth: 'coo' } });
  const refusal = { code: 'STORE', reason: 'AUTHFAILED', retryable: false };
  await expect(locks.mutex('a').acquire()).rejects.toMatchObject(refusal);
  await expect(locks.inspect('a')).rejects.toMatchObject(refusal);
});

test('a chroot that is not there, and one that is', async () => {
  const missing = { code: 'STORE', retryable: false, message: expect.stringMatching(/chroot/) };
  const locks = locksOf({ chroot: '/missing' });
  await expect(locks.mutex('a').acquire()).rejects.toMatchObject(missing);
  await expect(locks.inspect('a')).rejects.toMatchObject(missing);
  await nodeFor('cr', '/missing');
  await locks.mutex('a').run(async () => {});
});

test('what the root must permit: create, and read for whoever lists', async () => {
  const at = async (letters: string): Promise<Locks> => {
    const path = `/root-${letters}`;
    await nodeFor(letters, path);
    return locksOf({ auth: USER }, { path });
  };
  await useEverything(await at('cr'));
  const blind = await at('c');
  await blind.mutex('a').run(async () => {});
  await expect(list(blind, '')[Symbol.asyncIterator]().next()).rejects.toMatchObject(DENIED);
  const closed = await at('drwa');
  await expect(closed.mutex('a').acquire()).rejects.toMatchObject(DENIED);
});

test('of two users, each what both name in their acl', async () => {
  await nodeFor('cdrw', '/shared');
  const at = { path: '/shared' };
  const [one, other] = [locksOf({ auth: USER }, at), locksOf({ auth: OTHER }, at)];
  const lease = await one.mutex('mine').acquire();
  await expect(other.mutex('mine').acquire()).rejects.toMatchObject(DENIED);
  await lease.release();
  const session = closing(new RightsSession({ servers: [server.address], auth: [USER, OTHER] }));
  await session.create('/shared/names');
  const acl = await session.getAcl('/shared/names');
  await nodeFor('cdrw', '/both');
  const [first, second] = [USER, OTHER].map((auth) => locksOf({ auth, acl }, { path: '/both' }));
  const held = await first?.mutex('ours').acquire();
  const next = second?.mutex('ours').acquire();
  await hasWaiter(first as Locks, 'ours');
  await held?.release();
  await (await next)?.release();
});

test('a queue whose data may not be written: all but what is told of the last hold', async () => {
  const open: readonly Acl[] = [{ scheme: 'world', id: 'anyone', perms: permissions('cdrwa') }];
  await nodeFor('cdrw', '/quiet');
  await nodeFor('cdr', '/quiet/a');
  const at = { path: '/quiet' };
  const [one, other] = [locksOf({ acl: open }, at), locksOf({}, at)];
  const first = await one.mutex('a').acquire();
  const next = other.mutex('a').acquire();
  await hasWaiter(one, 'a');
  await first.release();
  const second = await next;
  expect(second.takeover).toEqual({ reason: 'expired', token: first.token });
  expect(await evict(one, 'a', { token: second.token, reason: 'test', now: true })).toBe(true);
  const store = closing(zookeeperStore(server.url, at));
  const elsewhere = closing(zookeeperStore(server.url, at));
  const claim = claimOf('a');
  expect(await store.claim([claim])).toMatchObject([{ state: 'held' }]);
  expect(await elsewhere.release([claim])).toEqual([true]);
  expect((await one.inspect('a')).holders).toEqual([]);
});
