/** The fence where the guarded data is in Redis or Valkey, with every client. */
import { createLocks } from 'holdfast';
import { type RedisFenceOptions, redisFence } from 'holdfast/fence';
import { redisStore } from 'holdfast/redis';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RedisServer } from '../../servers/redis-server.ts';
import { add, type FenceOn, fenceOn, get, set } from './bed.ts';
import { packages } from './packages.ts';

const ioredis = packages[0]!;
const at = (resource: string) => ({ resource, lineage: 'one' });
const stale = (seen: bigint) => ({ code: 'STALE_TOKEN', seen });

describe.each(['redis', 'valkey'] as const)('%s', (program) => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await RedisServer.start({ program });
  });
  afterAll(() => server?.close());

  function fenceOf(options: RedisFenceOptions = {}, its = ioredis): FenceOn {
    return fenceOn(its.server(server), options);
  }

  test.each(packages)('$name writes text, numbers, hashes, and what scripts do', async (its) => {
    const name = (what: string): string => `${its.name}: ${what}`;
    const fence = fenceOf({}, its);
    const entry = await fence.enter({ ...at(name('b')), token: 1n });
    const [text, hash] = [name('text'), name('hash')];
    await set(entry, text, 'ß\0\u{1f512}');
    expect(await get(entry, text)).toBe('ß\0\u{1f512}');
    await entry.write([['SET', text, 7n, 'PX', 3_600_000]]);
    expect(await server.command('PTTL', text)).toBeGreaterThan(3_000_000);
    expect(await add(entry, text)).toBe(8);
    expect(
      await entry.write([
        ['HSET', hash, 'left', 10, 'colour', 'red'],
        ['HINCRBY', hash, 'left', -3],
        ['HGETALL', hash],
        ['EXISTS', text],
        ['GET', 'none'],
      ]),
    ).toEqual([2, 7, ['left', '7', 'colour', 'red'], 1, null]);
    const script = "return { #KEYS, #ARGV, redis.call('APPEND', KEYS[1], ARGV[1]), KEYS[2] }";
    for (const length of [3, 5]) {
      const answer = await entry.eval(script, { keys: [text, 'second'], args: ['ab'] });
      expect(answer).toEqual([2, 1, length, 'second']);
    }
    expect(await entry.eval('return { #KEYS, #ARGV }')).toEqual([0, 0]);
    expect(await entry.write([['DEL', text, hash]])).toEqual([2]);
    expect(await get(entry, text)).toBeNull();
    expect(await entry.write([])).toEqual([]);
  });

  test('a holder that enters anew is safe from its own earlier writes', async () => {
    const fence = fenceOf();
    const before = await fence.enter({ ...at('c'), token: 33n });
    const after = await fence.enter({ ...at('c'), token: 33n });
    await expect(set(before, 'c', 'late')).rejects.toThrow(/entered again/);
    await set(after, 'c', 'on time');
  });

  test('a reader reads, and the server lets it write nothing', async () => {
    const fence = fenceOf();
    await set(await fence.enter({ ...at('e'), token: 5n, kind: 'write' }), 'e', 'first');
    await fence.enter({ ...at('e'), token: 7n, kind: 'read' });
    const reader = await fence.enter({ ...at('e'), token: 6n, kind: 'read' });
    expect(await get(reader, 'e')).toBe('first');
    expect(await reader.eval("return redis.call('GET', KEYS[1])", { keys: ['e'] })).toBe('first');
    const refused = { code: 'STORE', outcome: 'unknown' };
    await expect(set(reader, 'e', 'x')).rejects.toMatchObject(refused);
    expect(await server.command('GET', 'e')).toBe('first');
  });

  test('resources are kept apart byte by byte', async () => {
    const fence = fenceOf();
    const names = ['g', 'G', 'g ', 'g\0', 'g}h', '{g}', '{g', 'g}', '{}', '}{', 'ß'.repeat(256)];
    expect(new Set(names.map((each) => fence.keyOf(each))).size).toBe(names.length);
    for (const each of names) await fence.enter({ ...at(each), token: 5n });
    for (const each of names) {
      await expect(fence.enter({ ...at(each), token: 4n })).rejects.toMatchObject(stale(5n));
    }
  });

  test('no entry writes through a fence that is gone, or made anew', async () => {
    const fence = fenceOf();
    const entry = await fence.enter({ ...at('h'), token: 5n });
    await server.command('DEL', fence.keyOf('h'));
    await expect(set(entry, 'h', '')).rejects.toThrow(/key of the fence was deleted/);
    await fence.enter({ ...at('h'), token: 4n });
    await expect(set(entry, 'h', '')).rejects.toThrow(/has lost the entry/);
    await fence.enter({ ...at('h'), token: 5n });
    await expect(set(entry, 'h', '')).rejects.toThrow(/entered again/);
    // The first entry of each of these two, by the same holder.
    const first = await fence.enter({ ...at('h2'), token: 5n });
    await server.command('DEL', fence.keyOf('h2'));
    await fence.enter({ ...at('h2'), token: 5n });
    await expect(set(first, 'h', '')).rejects.toThrow(/entered again/);
    expect(await server.command('EXISTS', 'h')).toBe(0);
  });

  test('a fence stays for ever, or as long as it was told after the last write', async () => {
    const [ever, short] = [fenceOf(), fenceOf({ prefix: 'short:', keep: '2m' })];
    const [one, two] = [ever.keyOf('i'), short.keyOf('i')];
    await set(await ever.enter({ ...at('i'), token: 1n }), 'i', 1);
    expect(await server.command('PTTL', one)).toBe(-1);
    const entry = await short.enter({ ...at('i'), token: 1n });
    await server.command('PEXPIRE', two, 30_000);
    await set(entry, 'i', 1);
    expect(await server.command('PTTL', two)).toBeGreaterThan(60_000);
    await fenceOf({ prefix: 'short:' }).enter({ ...at('i'), token: 1n });
    expect(await server.command('PTTL', two)).toBe(-1);
  });

  test('what fails half-way says so, and the error of a script names its own line', async () => {
    const fence = fenceOf();
    const entry = await fence.enter({ ...at('j'), token: 1n });
    await set(entry, 'text', 'x');
    const unknown = { code: 'STORE', outcome: 'unknown' };
    await expect(
      entry.write([
        ['SET', 'half', 1],
        ['INCRBY', 'text', 1],
      ]),
    ).rejects.toMatchObject(unknown);
    expect(await get(entry, 'half')).toBe('1');
    const script = "\nlocal a = 1\nerror('here')";
    await expect(entry.eval(script)).rejects.toThrow(/user_script:3: here/);
    await expect(entry.eval(`#!lua\n${script}`)).rejects.toThrow(/user_script:4: here/);
    expect(await entry.eval('#!lua')).toBeNull();
    // Of what it wrote before, the server says nothing.
    for (const answer of ['SOLD_OUT all', 'sold out']) {
      const says = `redis.call('SET', KEYS[1], ARGV[1]) return redis.error_reply(ARGV[1])`;
      const attempt = entry.eval(says, { keys: ['sold'], args: [answer] });
      const message = expect.stringContaining(answer);
      await expect(attempt).rejects.toMatchObject({ ...unknown, message });
      expect(await get(entry, 'sold')).toBe(answer);
    }
    expect(await get(entry, 'text')).toBe('x');
  });

  test('what is no lease, no fence, no option or no value is refused', async () => {
    const fence = fenceOf();
    for (const token of [0n, -1n, '', '0x10', 2n ** 63n, 5 as unknown as bigint]) {
      await expect(fence.enter({ ...at('k'), token })).rejects.toThrow(/fencing token/);
    }
    await server.command('SET', fence.keyOf('l'), 'text');
    await server.command('HSET', fence.keyOf('m'), 'token', '1');
    for (const resource of ['l', 'm']) {
      const lease = { ...at(resource), token: 1n };
      await expect(fence.enter(lease)).rejects.toThrow(/is not a fence/);
      await expect(fence.adopt(lease)).rejects.toMatchObject({ code: 'USAGE' });
    }
    const entry = await fence.enter({ ...at('k'), token: 1n });
    for (const value of [Number.NaN, Infinity, '\ud800', null, {}, undefined]) {
      await expect(set(entry, 'k', value as string)).rejects.toMatchObject({ code: 'USAGE' });
    }
    await expect(entry.eval('return 1', { arg: [1] } as object)).rejects.toThrow(/no option "arg"/);
    await expect(get(entry, 5 as unknown as string)).rejects.toMatchObject({ code: 'USAGE' });
    await expect(entry.eval(5 as unknown as string)).rejects.toMatchObject({ code: 'USAGE' });
    for (const options of [
      ...[{ prefix: '' }, { prefix: 'a{b' }, { prefix: 1 }, { tag: 'x' }, { keep: '59s' }],
      ...[{ keep: 'long' }, { ttl: '1h' }, null],
    ]) {
      expect(() => fenceOf(options as RedisFenceOptions)).toThrow(
        expect.objectContaining({ code: 'USAGE' }),
      );
    }
    for (const tag of ['', 'a}b', 5]) {
      const odd = fenceOf({ tag: () => tag as string });
      await expect(odd.enter({ ...at('k'), token: 1n })).rejects.toThrow(/tag must return/);
    }
    // @ts-expect-error: a URL is no client.
    const nowhere = redisFence().enter('redis://localhost', { ...at('k'), token: 1n });
    await expect(nowhere).rejects.toThrow(/A string is not a client/);
  });

  test('many commands are one step as well', async () => {
    const fence = fenceOf();
    const entry = await fence.enter({ ...at('many'), token: 1n });
    const numbers = Array.from({ length: 9000 }, (_, n) => n);
    await entry.write(numbers.map((n) => ['HSET', 'many', `${n}`, n] as const));
    expect(await server.command('HLEN', 'many')).toBe(9000);
    const keys = numbers.map((n) => `many ${n}`);
    const gone = await entry.write(['many', ...keys].map((key) => ['DEL', key] as const));
    expect(gone.filter((one) => one === 1)).toEqual([1]);
  });

  test('leases pass in the order in which they were granted', async () => {
    const fence = fenceOf();
    const client = ioredis.server(server);
    await using locks = createLocks(redisStore(client, { afterDataLoss: 'trust' }));
    const first = await locks.mutex('order').acquire();
    const entry = await fence.enter(first);
    await set(entry, 'order', 'first');
    await first.release();
    await locks.mutex('order').run(async (lease) => {
      const next = await fence.enter(JSON.parse(JSON.stringify(lease)));
      await expect(set(entry, 'order', 'late')).rejects.toMatchObject(stale(lease.token));
      await set(next, 'order', 'next');
    });
    expect(await server.command('GET', 'order')).toBe('next');
  });
});
