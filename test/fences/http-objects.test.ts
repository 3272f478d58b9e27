/** Objects behind HTTP: what is sent, and what is made of statuses, proxies and redirections. */
import { type HttpObjectsOptions, httpObjects, objectFence } from 'holdfast/fence';
import { expect, test } from 'vitest';
import { at, numbers, valueIn } from './numbers.ts';
import { ObjectServer } from './object-server.ts';

test('a PUT that is sent elsewhere, and becomes a GET there, is no write', async () => {
  const service = await ObjectServer.start();
  const fence = numbers(service.url);
  const entry = await fence.enter({ ...at('a'), token: 1n });
  service.put('login', 'Who are you?');
  service.mishaps.push({ status: 303, location: '/login' });
  await entry.write(1);
  expect(valueIn(service, 'a')).toBe(1);
  expect(service.texts.get('login')).toBe('Who are you?');
});

test('what a proxy in front compresses is asked for as it is', async () => {
  const service = await ObjectServer.start({ compresses: true });
  const fence = numbers(service.url);
  await (await fence.enter({ ...at('a'), token: 1n })).write(1);
  expect((await fence.enter({ ...at('a'), token: 2n })).value).toBe(1);
});

test('headers are sent once, those of the user before our own', async () => {
  const service = await ObjectServer.start();
  const sent: unknown[] = [];
  const objects = httpObjects({
    url: service.url,
    headers: { 'Content-Type': 'text/csv', 'X-Who': 'me' },
    fetch: (url, init) => {
      sent.push(Object.fromEntries(new Headers(init.headers)));
      return fetch(url, init);
    },
  });
  await objectFence(objects).enter({ ...at('a'), token: 1n });
  expect(sent).toEqual(
    [
      { 'accept-encoding': 'identity', 'cache-control': 'no-cache', 'content-type': 'text/csv' },
      { 'content-type': 'text/csv', 'if-none-match': '*' },
    ].map((headers) => ({ ...headers, 'x-who': 'me' })),
  );
});

test('the status is found wherever a client keeps it', async () => {
  const service = await ObjectServer.start();
  const plain = httpObjects({ url: service.url });
  // Something else is where others keep it.
  for (const dress of [
    (status: number) => ({ code: status, status: 'FAILED_PRECONDITION' }),
    (status: number) => ({ code: `${status}` }),
    (status: number) => ({ code: 'ERR_NON_2XX', response: { statusCode: status } }),
    (status: number) => ({ statusCode: status, status: 1n, code: Symbol('s'), response: null }),
  ]) {
    const mend = ({ status }: { status: number }): never => {
      throw Object.assign(new Error('no'), dress(status));
    };
    const dressed = objectFence<number>(
      {
        get: (key) => plain.get(key).catch(mend),
        put: (put) => plain.put(put).catch(mend),
      },
      { initial: 0 },
    );
    const resource = `${dress}`.slice(0, 200);
    const late = await dressed.enter({ ...at(resource), token: 1n });
    await dressed.enter({ ...at(resource), token: 2n });
    await expect(late.write(1)).rejects.toMatchObject({ code: 'STALE_TOKEN', seen: 2n });
  }
});

test('a function says where an object is, and another one asks for it', async () => {
  const service = await ObjectServer.start();
  const own = httpObjects({
    url: (key) => `${service.url}own/${key}`,
    fetch: (url, init) => fetch(url, init),
  });
  await objectFence(own).enter({ ...at('x'), token: 1n });
  expect(valueIn(service, 'own/x')).toBeNull();
});

test.each<[string, NonNullable<HttpObjectsOptions['fetch']>]>([
  [
    'a service that hangs',
    (_, { signal }) =>
      new Promise((__, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason));
      }),
  ],
  ['a fetch that does not listen to its signal', () => new Promise(() => {})],
])('%s is given up after the timeout', async (_, hangs) => {
  const objects = httpObjects({ url: 'http://a.example/', timeout: 20, fetch: hangs });
  const entered = objectFence(objects).enter({ ...at('a'), token: 1n });
  await expect(entered).rejects.toMatchObject({ code: 'STORE', retryable: true });
});
