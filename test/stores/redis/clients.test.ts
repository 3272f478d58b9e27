/** Each package's connections to one server: replies, order, broken connections, secrets. */
import { setTimeout as sleep, setImmediate as turn } from 'node:timers/promises';
import type { StoreError } from 'holdfast';
import { Redis } from 'ioredis';
import { afterAll, describe, expect, test } from 'vitest';
import { refusalCode } from '../../../src/clients/redis/errors.ts';
import { inTurn } from '../../methods/faults/bed.ts';
import { RedisServer } from '../../servers/redis-server.ts';
import { TcpProxy } from '../../servers/tcp-proxy.ts';
import { startTls } from '../../servers/tls.ts';
import { failureOf } from '../../support/failures.ts';
import { until } from '../../support/until.ts';
import { Links, packages } from './packages.ts';

const server = await RedisServer.start();
afterAll(() => server.close());

const inBed = inTurn(() => new Links());

const CANARY = 'canary-5up3r-s3cr3t';
const EVERY_TYPE = `redis.setresp(3); return { 1, 'two', true, { double = 1.5 },
  { map = { a = 1 } }, { set = { x = true } }, { big_number = '12345678901234567890' } }`;

/** Everything that an error shows when it is logged. */
function shown(error: unknown): string {
  const { cause } = error as Error;
  const parts = [String(error), (error as Error).stack, JSON.stringify(error), String(cause)];
  return [...parts, JSON.stringify(cause), cause instanceof Error ? cause.stack : ''].join('\n');
}

describe.each(packages)('$name', (its) => {
  inBed('connects nothing before the first command, and never the given client', async (links) => {
    const name = `lazy-${its.name.replace(' ', '-')}`;
    const client = its.server(server, { name, database: 3 });
    const link = links.to(client);
    const connected = async (): Promise<number> =>
      String(await server.command('CLIENT', 'LIST')).split(` name=${name} `).length - 1;
    expect(await connected()).toBe(0);
    await link.send('where', ['SET', 'where', 'here']);
    expect(await connected()).toBe(1);
    // As the given client has it: in database 3.
    expect(await server.command('EXISTS', 'where')).toBe(0);
    expect('isOpen' in client ? client.isOpen : client.status).toSatisfy(
      (state: unknown) => state === false || state === 'wait',
    );
  });

  test.each([2, 3] as const)('gives replies as RESP2 has them, over RESP%i', async (protocol) => {
    await using links = new Links();
    const link = links.to(its.server(server, { protocol }));
    expect(await link.send('k', ['EVAL', EVERY_TYPE, '0'])).toEqual([
      ...[1, 'two', 1, '1.5'],
      ...[['a', 1], ['x'], '12345678901234567890'],
    ]);
    expect(await link.send('k', ['HGETALL', 'none'])).toEqual([]);
  });

  inBed('sends a row in order, each with its own outcome', async (links) => {
    const link = links.to(its.server(server));
    const key = `row ${its.name}`;
    expect(
      await link.sendAll(key, [
        ['SET', key, '1'],
        ['INCR', key],
        ['EVALSHA', 'a'.repeat(40), '0'],
        ['LPUSH', key, 'x'],
        ['GET', key],
      ]),
    ).toEqual([
      ...['OK', 2],
      { refusal: expect.stringMatching(/^NOSCRIPT /) },
      { refusal: expect.stringMatching(/^WRONGTYPE /) },
      '2',
    ]);
    const many = await Promise.all(
      Array.from({ length: 200 }, () => link.send(key, ['INCR', key])),
    );
    expect(many).toEqual(Array.from({ length: 200 }, (_, i) => i + 3));
  });

  inBed('a refusal is an error that says so, without the arguments', async (links) => {
    const link = links.to(its.server(server));
    const missing = await failureOf(link.send('k', ['EVALSHA', 'a'.repeat(40), '1', 'k', CANARY]));
    expect(missing).toMatchObject({ code: 'STORE', retryable: true, outcome: 'failed' });
    expect(refusalCode(missing)).toBe('NOSCRIPT');
    const unknown = await failureOf(link.send('k', ['HOLDFAST', CANARY]));
    expect(unknown).toMatchObject({ code: 'STORE', retryable: false, outcome: 'failed' });
    for (const error of [missing, unknown]) expect(shown(error)).not.toContain(CANARY);
  });

  inBed('keeps the key prefix and other habits of the given client out', async (links) => {
    const habits = { keyPrefix: 'p:', enableAutoPipelining: true, stringNumbers: true };
    const given = its.server(server) as unknown as { duplicate(options: object): never };
    const client = given.duplicate({ ...habits, commandOptions: { typeMapping: { 36: Buffer } } });
    const link = links.to(client);
    const key = `habits ${its.name}`;
    expect(await link.send(key, ['INCR', key])).toBe(1);
    expect(await link.send(key, ['GET', key])).toBe('1');
    expect(await server.command('EXISTS', key)).toBe(1);
  });

  inBed('nothing is written twice, and nothing that has failed was written', async (links) => {
    const own = links.serve(await RedisServer.start());
    const link = links.to(its.server(own));
    const sent = { answered: 0, unknown: 0, failed: 0 };
    let killing = true;
    const killer = (async () => {
      // A few commands pass between two kills, in the end on a slow machine as well, and some are
      // always under way.
      for (let i = 0; i < 30 || sent.answered === 0 || sent.unknown === 0; i++) {
        await new Promise((resolve) => setTimeout(resolve, 10 + i));
        await own.command('CLIENT', 'KILL', 'TYPE', 'normal');
      }
      killing = false;
    })();
    while (killing) {
      const row = Array.from({ length: 20 }, async (_, i) => {
        const error = await failureOf<StoreError>(
          i % 2 ? link.send('n', ['INCR', 'n']) : link.sendAll('n', [['INCR', 'n']]),
        );
        if (error) expect(error).toMatchObject({ code: 'STORE', retryable: true });
        sent[error?.outcome ?? 'answered']++;
      });
      await Promise.all(row);
    }
    await killer;
    // Not over the link, which may not have heard of the last kill.
    const done = Number(await own.command('GET', 'n'));
    expect(await own.calls('incr')).toBe(done);
    expect(done).toBeGreaterThanOrEqual(sent.answered);
    expect(done).toBeLessThanOrEqual(sent.answered + sent.unknown);
  });

  inBed('a server that is away: fails unsent, and works once it is back', async (links) => {
    const own = links.serve(await RedisServer.start());
    const link = links.to(its.server(own));
    await link.send('k', ['SET', 'before', '1']);
    await own.kill();
    // Whether this one has left is not known: the client may not have heard of the end.
    expect(await failureOf(link.send('k', ['GET', 'k']))).toMatchObject({ retryable: true });
    const lost = await Promise.all(
      Array.from({ length: 5 }, (_, i) => failureOf(link.send('k', ['SET', `lost${i}`, '1']))),
    );
    for (const error of lost) expect(error).toMatchObject({ outcome: 'failed', retryable: true });
    await own.start();
    await until('was connected again', async () => {
      return (await link.send('k', ['SET', 'after', '1'])) === 'OK';
    });
    expect(await own.command('DBSIZE')).toBe(1);
  });

  inBed('a server that stands still: unknown outcomes, and a new connection', async (links) => {
    const own = links.serve(await RedisServer.start());
    const proxy = links.serve(await TcpProxy.start(own.port));
    const link = links.to(its.server({ host: proxy.host, port: proxy.port }));
    await link.send('k', ['INCR', 'k']);
    proxy.set({ flow: 'swallow' });
    // Nothing of the connection tells; only the silence does, after a few seconds.
    const unknown = { outcome: 'unknown', retryable: true };
    await expect(link.send('k', ['INCR', 'k'])).rejects.toMatchObject(unknown);
    proxy.set();
    await until('answered again', async () => (await link.send('k', ['GET', 'k'])) !== undefined);
    expect(await link.send('k', ['GET', 'k'])).toBe('1');
  });

  inBed('a subscription hears, is taken up again when it breaks, and tells so', async (links) => {
    const own = links.serve(await RedisServer.start());
    const link = links.to(its.server(own, { name: 'listener' }));
    const heard: string[] = [];
    await link.follow('k', 'news', (message = 'resumed') => heard.push(message));
    const publish = (text: string): Promise<unknown> => own.command('PUBLISH', 'news', text);
    expect(await publish('one')).toBe(1);
    await until('heard the first', async () => heard.length === 1);
    const [id = ''] = await own.listeners('listener');
    await own.command('CLIENT', 'KILL', 'ID', id);
    await until('resumed', async () => heard.length === 2);
    // By the time of `resumed` it listens: nothing is lost after it.
    expect(await publish('two')).toBe(1);
    // What a client has not read yet goes with a connection that is reset.
    await until('heard the second', async () => heard.length === 3);
    await own.restart({ keepData: false });
    await until('resumed again', async () => heard.lastIndexOf('resumed') === 3);
    expect(await publish('three')).toBe(1);
    await until('heard the last', async () => heard.at(-1) === 'three');
    expect(heard).toEqual(['one', 'resumed', 'two', 'resumed', 'three']);
    await link.close();
    await until('stopped listening', async () => (await own.listeners('listener')).length === 0);
  });

  inBed('a wrong password is told without it, at once', async (links) => {
    const own = links.serve(await RedisServer.start());
    await own.command('CONFIG', 'SET', 'requirepass', 'right');
    const wrong = links.to(its.server(own, { password: CANARY }));
    const error = await failureOf(wrong.send('k', ['GET', 'k']));
    expect(error).toMatchObject({ code: 'STORE', retryable: false, outcome: 'failed' });
    expect(shown(error)).toMatch(/user name and password/);
    expect(shown(error)).not.toContain(CANARY);
    const deaf = await failureOf(wrong.follow('k', 'news', () => {}));
    expect(deaf).toMatchObject({ retryable: false, outcome: 'failed' });
    expect(shown(deaf)).not.toContain(CANARY);
    const none = await failureOf(links.to(its.server(own)).send('k', ['GET', 'k']));
    expect(none).toMatchObject({ retryable: false, outcome: 'failed' });
    expect(shown(none)).toMatch(/requires a password/);
    const right = links.to(its.server(own, { password: 'right' }));
    expect(await right.send('k', ['PING'])).toBe('PONG');
  });

  inBed('TLS: as the given client has it, and by no other authority', async (links) => {
    const { server: secure, url, ca } = await startTls();
    links.serve(secure);
    const place = { host: '127.0.0.1', port: Number(new URL(url).port) };
    expect(await links.to(its.server(place, { ca })).send('k', ['PING'])).toBe('PONG');
    const stranger = links.to(its.server(place, { ca: ca.replace(/\n[\s\S]*\n/, '\n') }));
    const refused = { code: 'STORE', outcome: 'failed' };
    await expect(stranger.send('k', ['PING'])).rejects.toMatchObject(refused);
  });

  inBed('a name that nobody knows, and a port where nobody listens', async (links) => {
    const nowhere = links.to(its.server({ host: 'nowhere.invalid', port: 6379 }));
    const unknown = await failureOf(nowhere.send('k', ['PING']));
    expect(unknown).toMatchObject({ retryable: true, outcome: 'failed' });
    expect(shown(unknown)).toMatch(/host name is not known/);
    const closed = links.to(its.server({ host: '127.0.0.1', port: 1 }));
    const refused = await failureOf(closed.send('k', ['PING']));
    expect(refused).toMatchObject({ retryable: true, outcome: 'failed' });
    expect(shown(refused)).toMatch(/nothing listens/);
  });

  inBed('waiting for replicas is no silence of the server', async (links) => {
    const link = links.to(its.server(server));
    // Longer than a connection may owe an answer; there is no replica.
    expect(await link.send('k', ['WAIT', '1', '5000'])).toBe(0);
  });

  inBed('after close, and for what is open then, there is an error', async (links) => {
    const link = links.to(its.server(server));
    await link.send('k', ['PING']);
    const open = failureOf(link.send('k', ['BLPOP', `nothing ${its.name}`, '5']));
    // Until it has arrived there.
    const blocked = async (): Promise<string> => String(await server.command('INFO', 'clients'));
    await until('waited', async () => (await blocked()).includes('blocked_clients:1'));
    await link.close();
    expect(await open).toMatchObject({ code: 'STORE', outcome: 'unknown' });
    const refused = { code: 'STORE', retryable: false, outcome: 'failed' };
    await expect(link.send('k', ['PING'])).rejects.toMatchObject(refused);
    await until('let go', async () => (await blocked()).includes('blocked_clients:0'));
  });
});

inBed('the given client may be closed after linkOf: connections are their own', async (links) => {
  const client = new Redis(server.url);
  const link = links.to(client);
  await client.ping();
  client.disconnect();
  expect(await link.send('k', ['PING'])).toBe('PONG');
});

inBed('what came while the process stood still is read before it is judged', async (links) => {
  const link = links.to(new Redis(server.url, { lazyConnect: true }));
  const connection = await link.send('k', ['CLIENT', 'ID']);
  // Until the look at that answer, after 1.5 s, is over: the next command begins another.
  await sleep(1_600);
  // From here on timers come before input.
  await turn();
  // It is written at once.
  const asked = link.send('k', ['CLIENT', 'ID']);
  // Past the next look.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_600);
  expect(await asked).toBe(connection);
  expect(await link.send('k', ['CLIENT', 'ID'])).toBe(connection);
});
