import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { connect, openStore } from '../src/connect.ts';

test('memory: is a store of this process', async () => {
  await using locks = await connect('memory:', { prefix: 'a:' });
  expect(await locks.mutex('x').run(({ resource }) => resource)).toBe('a:x');
});

test('sqlite: takes a relative or an absolute path, with or without slashes', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'holdfast-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'a b?%41.db');
  await using one = await connect(`sqlite:${file}`);
  await using other = await connect(`sqlite://${file}`);
  const lease = await one.mutex('x').acquire();
  expect(await other.mutex('x').tryAcquire()).toBeNull();
  await lease.release();
});

test.each([
  ['sqlit:./locks.db', 'USAGE', /did you mean 'sqlite:'\?/],
  ['SQLITE:./locks.db', 'USAGE', /did you mean 'sqlite:'\?/],
  ['mongodb://host', 'USAGE', /there are memory, sqlite/],
  ['./locks.db', 'USAGE', /named by a URL/],
  ['', 'USAGE', /named by a URL/],
  ['sqlite:', 'USAGE', /needs a file/],
  ['memory:x', 'USAGE', /takes nothing/],
  ['zookeper://host', 'USAGE', /did you mean 'zookeeper:'\?/],
  ['etcd:secret', 'USAGE', /The form is 'etcd:/],
  ['etcd://me:12?secret@host', 'USAGE', /The form is 'etcd:/],
  ['etcds://me:secret@host/chroot', 'USAGE', /The form is 'etcd:/],
  ['etcd://me:secret@host?maxWaiters=many', 'USAGE', /whole number/],
  ['etcd://me:secret@host?prefx=a', 'USAGE', /prefx.*prefix/],
  ['zookeeper:secret', 'USAGE', /The form is 'zookeeper:/],
  ['zookeeper://:secret@host', 'USAGE', /The form is 'zookeeper:/],
  ['zookeeper://me:12?secret@host', 'USAGE', /The form is 'zookeeper:/],
  ['zookeeper://me:12#secret@host', 'USAGE', /The form is 'zookeeper:/],
  ['zookeeper://me:%secret@host', 'USAGE', /not followed by two digits/],
  ['zookeepers://me:secret@host:0', 'USAGE', /named by its host/],
  ['zookeepers://me:secret@host/a//b', 'USAGE', /Not a path of ZooKeeper/],
  ['zookeeper://me:secret@host?maxWaiters=many', 'USAGE', /whole number/],
  ['zookeeper://me:secret@host?path=locks', 'USAGE', /does not begin with \//],
  ['zookeeper://me:secret@host?sessionTimeout=9s', 'USAGE', /sessionTimeout.*path/],
  ['zookeeper://me:secret@host?chroot=/a', 'USAGE', /chroot.*path/],
  ['postgres:secret', 'USAGE', /The form is 'postgres:/],
  ['redis://:secret@host:port', 'USAGE', /a host or port in it/],
])('%s is refused with advice, and without its secrets', async (url, code, message) => {
  const error = await openStore(url).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code, message: expect.stringMatching(message) });
  expect(String(error)).not.toContain('secret');
});

test('what is no text at all is a usage error too', async () => {
  await expect(openStore(undefined as unknown as string)).rejects.toMatchObject({ code: 'USAGE' });
});
