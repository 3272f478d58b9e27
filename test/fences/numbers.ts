/** Numbers behind a fence, in objects of a server that speaks HTTP. */
import type { EnterToken, Fence, ObjectAccess, ObjectEntry } from 'holdfast/fence';
import { objectFence } from 'holdfast/fence';
import type { FenceFixture } from 'holdfast/testkit';
import type { ObjectServer } from './object-server.ts';

export function at(resource: string, token: bigint): EnterToken {
  return { resource, lineage: 'one', token };
}

interface Place {
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>;
}

export function httpObjects({ url, headers, fetch: send = fetch }: Place): ObjectAccess {
  const ask = async (key: string, init: RequestInit): Promise<Response> => {
    const response = await send(url + encodeURIComponent(key), {
      ...{ ...init, redirect: 'error' },
      headers: { ...headers, ...(init.headers as object) },
    });
    const { status } = response;
    if (!response.ok) throw Object.assign(new Error(`HTTP ${status}`), { status });
    return response;
  };
  return {
    async get(key) {
      const response = await ask(key, { headers: { 'accept-encoding': 'identity' } });
      return { text: await response.text(), etag: response.headers.get('etag') ?? '' };
    },
    async put({ key, text, ifMatch, ifNoneMatch = '*' }) {
      const when =
        ifMatch === undefined ? { 'if-none-match': ifNoneMatch } : { 'if-match': ifMatch };
      const response = await ask(key, { method: 'PUT', body: text, headers: when });
      return response.headers.get('etag') ?? undefined;
    },
  };
}

/** A fence whose way to the data is always the same. */
export interface Through<Entered> {
  enter(lease: EnterToken): Entered;
  adopt(lease: EnterToken): Entered;
}

export function through<T, Entered>(fence: Fence<T, Entered>, way: T): Through<Entered> {
  return { enter: (lease) => fence.enter(way, lease), adopt: (lease) => fence.adopt(way, lease) };
}

type Numbers = Through<Promise<ObjectEntry<number>>>;

export function numbersIn(objects: ObjectAccess): Numbers {
  return through(objectFence<number>({ initial: 0 }), objects);
}

export function numbers(url: string): Numbers {
  return numbersIn(httpObjects({ url }));
}

export function valueIn(service: ObjectServer, key: string): unknown {
  return JSON.parse(service.texts.get(key) ?? '{}').value;
}

/** For the suite of fences. */
export function fixtureOf(fence: Numbers, look: () => Promise<number>): FenceFixture {
  return {
    look,
    adopt: (lease) => fence.adopt(lease),
    async enter(lease) {
      const entry = await fence.enter(lease);
      return { read: async () => entry.value, write: (value) => entry.write(value) };
    },
  };
}
