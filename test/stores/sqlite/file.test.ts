/** Which file it is: one that is replaced, one behind a link, one on a file system that lies. */
import fs from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, vi } from 'vitest';
import { refuseNetwork } from '../../../src/clients/sqlite/file-system.ts';
import { thisMachine } from '../../../src/clients/sqlite/machine.ts';
import { sqliteStore } from '../../../src/stores/sqlite/index.ts';
import type { SqliteParts, SqliteStore } from '../../../src/stores/sqlite/sqlite-store.ts';
import { claimOf, connect, handOver, hintsOf, hold, newFile, one, open, test } from './bed.ts';

/** Looking costs a system call, so claims do it only once a second. */
function openLater(file: string, parts: Partial<SqliteParts> = {}): [SqliteStore, () => void] {
  let aheadUs = 0;
  const machine = { ...thisMachine, nowUs: () => thisMachine.nowUs() + aheadUs };
  return [open(file, { machine, ...parts }), () => (aheadUs = 1_100_000)];
}

function removeAll(file: string): void {
  for (const end of ['', '-wal', '-shm']) fs.rmSync(file + end, { force: true });
}

test('a heartbeat notices that the file was deleted', async ({ file }) => {
  const store = open(file);
  const [kept, left, dead] = [claimOf('kept'), claimOf('left'), claimOf('dead', { ttlMs: 1 })];
  await store.claim([kept, left, dead]);
  const { lineage } = store;
  await store.release([left]);
  removeAll(file);
  expect(await store.renew([kept, claimOf('unknown')])).toEqual([
    { state: 'gone', why: 'store-reset' },
    { state: 'gone', why: 'expired' },
  ]);
  expect(store.lineage).not.toBe(lineage);
  // It was told once; from then on the claim is one like any that nobody knows.
  expect(await one(store.renew([kept]))).toEqual({ state: 'gone', why: 'expired' });
  await hold(store, claimOf('kept'));
});

test('a claim notices after a second that another file stands there', async ({ file }) => {
  const [[store, wait], other] = [openLater(file), newFile()];
  const mine = claimOf('job');
  await hold(store, mine);
  const theirs = open(other);
  await hold(theirs, claimOf('job'));
  // All of it has to be in the file that is moved.
  (await connect(other)).exec('PRAGMA wal_checkpoint(TRUNCATE)');
  await theirs.close();
  removeAll(file);
  fs.renameSync(other, file);
  wait();
  expect(await one(store.claim([claimOf('job', { queue: false })]))).toMatchObject({
    why: 'refused',
  });
  expect(await one(store.renew([mine]))).toEqual({ state: 'gone', why: 'store-reset' });
});

test('an object of the program cannot be opened anew by the store', async ({ file }) => {
  const [store, wait] = openLater(file, { database: await connect(file) });
  const claim = claimOf('job');
  await hold(store, claim);
  fs.renameSync(file, `${file}-moved`);
  expect(await store.renew([claim])).toEqual([{ state: 'gone', why: 'store-reset' }]);
  wait();
  await expect(store.claim([claimOf('job')])).rejects.toMatchObject({
    code: 'STORE',
    message: expect.stringMatching(/Open it again/),
  });
});

test('links lead to the same locks and the same wake-ups', async ({ file }) => {
  const real = open(file);
  const holder = claimOf('job');
  await hold(real, holder);
  const link = join(dirname(newFile()), 'link.db');
  fs.symlinkSync(file, link);
  const linked = open(link);
  const waiter = claimOf('job');
  const hints = await hintsOf(linked, waiter);
  expect(await one(linked.claim([waiter]))).toMatchObject({ state: 'waiting' });
  await handOver({ a: real, holder, hints });
  expect(fs.readdirSync(dirname(link))).toEqual(['link.db']);
});

test('a relative path means the directory at the time of the call', async ({ file }) => {
  // Where the process is; only a process of its own could really go there and come back.
  const there = vi.spyOn(process, 'cwd').mockReturnValue(dirname(file));
  const store = sqliteStore('./locks.db');
  there.mockRestore();
  await hold(store, claimOf('job'));
  await store.close?.();
  expect(fs.existsSync(file)).toBe(true);
});

test.each([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB'],
  [0x01021997, '9p'],
  [0x65735546, 'FUSE'],
  [0x5346414f, 'AFS'],
  [0x6b414653, 'AFS'],
  [0x73757245, 'Coda'],
  [0x00c36400, 'Ceph'],
  [0x01161970, 'GFS2'],
  [0x7461636f, 'OCFS2'],
  [0x0bd00bd0, 'Lustre'],
  [0x47504653, 'GPFS'],
  [0x786f4256, 'VirtualBox'],
  [0xbacbacbc, 'VMware'],
])('the file system %x is refused', (magic, name) => {
  const refuse = () => refuseNetwork('/mnt/locks.db', (path) => (path === '/mnt' ? magic : 0));
  const failed = { code: 'STORE', retryable: false, outcome: 'failed' };
  expect(refuse).toThrow(expect.objectContaining(failed));
  expect(refuse).toThrow(name);
  expect(refuse).toThrow('trustFileSystem: true');
});

test('local file systems are taken: ext4, xfs, btrfs, tmpfs, overlay, zfs, apfs', () => {
  for (const magic of [0xef53, 0x58465342, 0x9123683e, 0x01021994, 0x794c7630, 0x2fc12fc1, 0x1a]) {
    expect(() => refuseNetwork('/mnt/locks.db', () => magic)).not.toThrow();
  }
  expect(() => refuseNetwork(newFile())).not.toThrow();
});
