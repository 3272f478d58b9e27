import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { connect, openStore } from '../src/connect.ts';
import { ready } from '../src/operators/ready.ts';
import { directory } from './support/directory.ts';

test('memory: is a store of this process', async () => {
  await using locks = await connect('memory:', { prefix: 'a:' });
  expect(await locks.mutex('x').run(({ resource }) => resource)).toBe('a:x');
});

test('sqlite: takes a relative or an absolute path, with or without slashes', async () => {
  const file = join(directory(), 'a b%41.db');
  await using one = await connect(`sqlite:${file}`);
  await using other = await connect(`sqlite://${file}`);
  const lease = await one.mutex('x').acquire();
  expect(await other.mutex('x').tryAcquire()).toBeNull();
  await lease.release();
});

test('sqlite: takes options as its query', async () => {
  const file = join(directory(), 'a.db');
  await using one = await connect(`sqlite:${file}?maxWaiters=1&trustFileSystem=true`);
  await using other = await connect(`sqlite:${file}`);
  await using _ = await other.mutex('x').acquire();
  const waits = one.mutex('x').acquire({ wait: '5s' });
  await expect(one.mutex('x', { fair: true }).acquire()).rejects.toMatchObject({
    code: 'QUEUE_FULL',
  });
  await _.release();
  await (await waits).release();
});

test('verify: waits for a first reply of the store, or rejects and closes it', async () => {
  await using locks = await connect('memory:', { verify: true });
  await expect(ready(locks)).resolves.toBeUndefined();
  const gone = connect('redis://127.0.0.1:1', { verify: true, ttl: '1s' });
  await expect(gone).rejects.toMatchObject({
    code: 'STORE',
    message: expect.stringMatching(/ECONNREFUSED/),
  });
  await expect(connect('memory:', { verify: 'yes' as never })).rejects.toThrow(/true or false/);
  await expect(connect('memory:', null as never)).rejects.toThrow(/must be an object/);
  await expect(connect('memory:', { verfy: true } as never)).rejects.toThrow(/no option "verfy"/);
});

test('ready rejects if the store does not reply, and when the locks are closed', async () => {
  await using locks = await connect('redis://127.0.0.1:1', { ttl: '1s' });
  await expect(ready(locks)).rejects.toMatchObject({ code: 'STORE' });
  await locks.close();
  await expect(ready(locks)).rejects.toMatchObject({ code: 'CLOSED' });
});

test.each([
  ['redis://127.0.0.1:1'],
  ['postgres://127.0.0.1:1/a'],
  ['mysql://127.0.0.1:1/a'],
  ['etcd://127.0.0.1:1'],
  ['zookeeper://127.0.0.1:1'],
])('%s: a time limit shorter than the pause of its client hides no cause', async (url) => {
  await using locks = await connect(url, { ttl: '1s' });
  const said = async (): Promise<string> => {
    const error = await locks
      .mutex('a')
      .tryRun(() => {})
      .catch(String);
    return String(error);
  };
  await expect.poll(said).toContain('ECONNREFUSED');
  for (let i = 0; i < 3; i++) expect(await said()).toContain('ECONNREFUSED 127.0.0.1:1');
});

test('module: is a store of your own, from a file or a package', async () => {
  const folder = directory();
  const file = join(folder, 'store.mjs');
  writeFileSync(file, `export default async (query) => ({ name: 'mine: ' + query });`);
  expect(await openStore(`module:${file}?table=a?b`)).toEqual({ name: 'mine: table=a?b' });
  expect(await openStore(`module:${file}`)).toEqual({ name: 'mine: ' });
  writeFileSync(join(folder, 'none.mjs'), 'export const store = 1;');
  await expect(openStore(`module:${join(folder, 'none.mjs')}`)).rejects.toMatchObject({
    code: 'USAGE',
    message: expect.stringMatching(/default export of .*none\.mjs must be a function/),
  });
});

test.each([
  ['sqlit:./locks.db', 'USAGE', /did you mean 'sqlite:'\?/],
  ['SQLITE:./locks.db', 'USAGE', /did you mean 'sqlite:'\?/],
  ['cassandra://host', 'USAGE', /there are memory, sqlite/],
  ['./locks.db', 'USAGE', /named by a URL/],
  ['', 'USAGE', /named by a URL/],
  ['sqlite:', 'USAGE', /needs a file/],
  ['sqlite:?maxWaiters=1', 'USAGE', /needs a file/],
  ['sqlite:a.db?busyTimout=1s', 'USAGE', /no option "busyTimout"/],
  ['sqlite:a.db?trustFileSystem=yes', 'USAGE', /must be true or false/],
  ['memory:x', 'USAGE', /takes nothing/],
  ['module:', 'USAGE', /needs a package or a file/],
  ['module:./not-there.mjs', 'USAGE', /cannot be loaded/],
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
  ['table+postgres://me:sec ret@host', 'USAGE', /PostgreSQL URL is malformed/],
  ['table+mysql://me:secret@host', 'USAGE', /MySQL URL is malformed/],
  ['table+mysql://me:secret@host/shop?table=a.b.c', 'USAGE', /table/],
  ['redis://:secret@host:port', 'USAGE', /a host or port in it/],
  ['s3:', 'USAGE', /needs a bucket/],
  ['s3://plans?regoin=secret', 'USAGE', /no option "regoin".*region/],
  ['dynamodb://', 'USAGE', /needs a table/],
  ['dynamodb://locks?maxWaiters=many', 'USAGE', /whole number/],
  ['mongodb://me:secret@host', 'USAGE', /does not name a database/],
  ['mongodb://me:secret@host/shop?retryWrites=secret', 'USAGE', /malformed/],
  ['hazelcast:secret', 'USAGE', /needs a member/],
  ['hazelcast://host/dev?grup=secret', 'USAGE', /grup.*group/],
  ['consul:secret', 'USAGE', /needs an agent's address/],
  ['consul://host?tokn=secret', 'USAGE', /tokn.*token/],
  ['kubernetes://host', 'USAGE', /takes options alone/],
  ['kubernetes:', 'USAGE', /does not run in a cluster/],
])('%s is refused with advice, and without its secrets', async (url, code, message) => {
  const error = await openStore(url).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code, message: expect.stringMatching(message) });
  expect(String(error)).not.toContain('secret');
});

test.each([
  ['s3://plans/locks/?region=eu-west-1', 'objects'],
  ['dynamodb://locks?region=eu-west-1&endpoint=http://127.0.0.1:1', 'dynamodb'],
  ['table+postgres://me:secret@host/shop?table=locks&sslmode=require', 'table'],
  ['table+postgresql://me:secret@one,two/shop', 'table'],
  ['table+mysql://me:secret@host/shop?maxWaiters=5', 'table'],
  ['table+mariadb://me:secret@host/shop', 'table'],
  ['mongodb://me:secret@localhost/shop?collection=locks&maxWaiters=5', 'mongodb'],
  ['hazelcast://127.0.0.1:1,127.0.0.1:2/dev?prefix=shop/', 'hazelcast'],
  ['consul://127.0.0.1:1?prefix=shop/&token=secret', 'consul'],
  ['kubernetes:?url=http://127.0.0.1:1&namespace=shop', 'kubernetes'],
])('%s is a store that has asked for nothing yet', async (url, name) => {
  const store = await openStore(url);
  expect(store.name).toBe(name);
  await store.close?.();
});

/** Databases, and the group of Hazelcast. */
const WITH_A_NAME = /^(postgres|mysql|mongodb|hazelcast|table.+):$/;
/** What stands behind the scheme of each row. */
const ADDRESSES: Readonly<Record<string, string>> = {
  'memory:': '',
  'sqlite:': './unused.db',
  's3:': '//plans/?region=eu-west-1',
  'dynamodb:': '//locks?region=eu-west-1',
  'kubernetes:': '?url=https://127.0.0.1:1&token=secret',
};
const MORE: Readonly<Record<string, string>> = {
  fair: '?mutex=fair',
  'recipe latch': '?recipe=latch',
  'recipe semaphore': '?recipe=semaphore',
};

test('the page of stores says what each of them can do', async () => {
  const page = readFileSync('docs/reference/stores.md', 'utf8');
  const rows = [...page.matchAll(/^\| (`.*) \|$/gm)].map(([, row = '']) =>
    row.trim().split(/ *\| */),
  );
  expect(rows.length).toBeGreaterThan(15);
  for (const [name = '', ...told] of rows) {
    const [, scheme = ''] = /^`([^`]+)`/.exec(name) ?? [];
    const [, more = ''] = /^`[^`]+`, ([a-z ]+)$/.exec(name) ?? [];
    const server = `//127.0.0.1:1${WITH_A_NAME.test(scheme) ? '/shop' : ''}`;
    const store = await openStore(scheme + (ADDRESSES[scheme] ?? server) + (MORE[more] ?? ''));
    const { permits, queue, tokens, records, replaces } = store.traits;
    const { list, evict, handOver, claimAll } = store;
    const newest = queue && replaces;
    const can = [permits, queue, tokens, records, list, evict, newest, handOver, claimAll];
    expect([name, ...can.map((it) => (it ? 'yes' : 'no'))]).toEqual([name, ...told]);
    await store.close?.();
  }
});
