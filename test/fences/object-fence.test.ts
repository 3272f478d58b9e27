/** The fence in objects that are written on a condition, on a real HTTP server. */
import type { ObjectAccess, ObjectFenceOptions } from 'holdfast/fence';
import { objectFence, probeObjects } from 'holdfast/fence';
import { type FenceFixture, fenceConformance } from 'holdfast/testkit';
import { describe, expect, test } from 'vitest';
import { gate } from '../support/gate.ts';
import { until } from '../support/until.ts';
import { at, fixtureOf, httpObjects, numbers, numbersIn, through, valueIn } from './numbers.ts';
import { ObjectServer, type ServiceOptions } from './object-server.ts';

describe.each<[string, ServiceOptions]>([
  ['of the text', {}],
  ['of versions', { etags: 'version' }],
  ['not told in reply to a PUT', { silent: true }],
])('ETags %s', (_, options) => {
  fenceConformance({ test, create: (resource) => fixtureFor(resource, options) });
});

async function fixtureFor(key: string, options: ServiceOptions): Promise<FenceFixture> {
  const { service, fence } = await started(options);
  return fixtureOf(fence, async () => Number(valueIn(service, key) ?? 0));
}

async function started(options?: ServiceOptions) {
  const service = await ObjectServer.start(options);
  return { service, fence: numbers(service.url) };
}

test('a write that the value ends as it was is none that an older entry can pass', async () => {
  const { service, fence } = await started();
  const older = await fence.enter(at('a', 33n));
  await older.write(1);
  const newer = await fence.enter(at('a', 34n));
  await newer.write(0);
  await newer.write(1);
  await expect(older.write(2)).rejects.toMatchObject({ code: 'STALE_TOKEN', seen: 34n });
  await (await fence.enter(at('a', 34n))).write(3);
  await expect(newer.write(4)).rejects.toThrow(/entered again/);
  expect(valueIn(service, 'a')).toBe(3);
});

describe('a reply that is lost', () => {
  test.each([0, 1, 2, 3, 4, 5])('harms nobody, whichever request it is: %i', async (n) => {
    for (const mishap of ['lost after it was carried out', 'lost before it arrived'] as const) {
      const { service, fence } = await started();
      service.mishaps.push(...Array(n).fill(undefined), mishap);
      const entry = await fence.enter(at('a', 1n));
      await entry.write(entry.value + 1);
      await entry.write(entry.value + 1);
      await (await fence.enter(at('a', 2n))).write(3);
      expect(valueIn(service, 'a')).toBe(3);
    }
  });

  test('of a write whose successor has entered is told as too late, and was read', async () => {
    const service = await ObjectServer.start();
    const { opened, open } = gate();
    let loses = false;
    const fetchAndLose = async (url: string, init: RequestInit): Promise<Response> => {
      const response = await fetch(url, init);
      if (!loses || init.method !== 'PUT') return response;
      loses = false;
      open();
      await entered;
      throw new TypeError('fetch failed');
    };
    const entered = opened.then(() => numbers(service.url).enter(at('a', 2n)));
    const objects = httpObjects({ url: service.url, fetch: fetchAndLose });
    const older = await numbersIn(objects).enter(at('a', 1n));
    loses = true;
    const stale = { code: 'STALE_TOKEN', token: 1n, seen: 2n };
    await expect(older.write(1)).rejects.toMatchObject(stale);
    const newer = await entered;
    await newer.write(newer.value + 5);
    expect(valueIn(service, 'a')).toBe(6);
  });

  test('of writes that were given up: they are found, or come too late', async () => {
    for (const when of ['before', 'after'] as const) {
      const { service, fence } = await started();
      const entry = await fence.enter(at('a', 1n));
      const arrive = gate();
      service.mishaps.push({ late: arrive.opened }, ...Array(5).fill({ status: 503 }));
      await expect(entry.write(1)).rejects.toMatchObject({ code: 'STORE', outcome: 'unknown' });
      expect(entry.value).toBe(0);
      if (when === 'before') {
        arrive.open();
        await until('was carried out', async () => valueIn(service, 'a') === 1);
      }
      await entry.write(2);
      arrive.open();
      // Of the entry, of the late one, and of the last; refused once, if the late one was first.
      const puts = when === 'before' ? 4 : 3;
      await until('all had come', async () => {
        return service.log.filter((line) => line.startsWith('PUT')).length === puts;
      });
      expect([valueIn(service, 'a'), entry.value]).toEqual([2, 2]);
    }
  });
});

test('what was carried out, and could not be read then, is told as unknown', async () => {
  const { service, fence } = await started({ silent: true });
  const entry = await fence.enter(at('a', 1n));
  service.mishaps.push(undefined, { status: 403 });
  await expect(entry.write(1)).rejects.toMatchObject({ code: 'STORE', outcome: 'unknown' });
  expect(valueIn(service, 'a')).toBe(1);
  // A client that sends again on its own: the first copy was carried out, the second one refused.
  const twice = async (url: string, init: RequestInit): Promise<Response> => {
    if (init.method === 'PUT') await fetch(url, init);
    return fetch(url, init);
  };
  const other = await ObjectServer.start();
  const objects = httpObjects({ url: other.url, fetch: twice });
  const eager = await numbersIn(objects).enter(at('a', 1n));
  await eager.write(1);
  other.mishaps.push(undefined, undefined, { status: 403 });
  await expect(eager.write(2)).rejects.toMatchObject({ code: 'STORE', outcome: 'unknown' });
  expect(valueIn(other, 'a')).toBe(2);
});

test('statuses mean what they mean: not carried out, later, never', async () => {
  const { service, fence } = await started();
  const entry = await fence.enter(at('a', 1n));
  service.mishaps.push({ status: 409 }, { status: 429 });
  await entry.write(1);
  for (const status of [400, 403]) {
    service.mishaps.push({ status });
    const failed = { code: 'STORE', outcome: 'failed', retryable: false };
    await expect(entry.write(2)).rejects.toMatchObject(failed);
  }
  service.mishaps.push({ status: 501 });
  const unsupported = { code: 'UNSUPPORTED', trait: 'conditional writes' };
  await expect(entry.write(2)).rejects.toMatchObject(unsupported);
  // Nothing is there, not even a place for it.
  service.mishaps.push({ status: 404 }, { status: 404 });
  const nowhere = fence.enter(at('b', 1n));
  await expect(nowhere).rejects.toMatchObject({ code: 'STORE', retryable: false });
  // Whether the first one comes yet is not known.
  service.mishaps.push('lost before it arrived', { status: 403 });
  await expect(entry.write(3)).rejects.toMatchObject({ outcome: 'unknown' });
  service.mishaps.push(...Array(6).fill({ status: 409 }));
  await expect(entry.write(4)).rejects.toMatchObject({ outcome: 'failed', retryable: true });
  await entry.write(5);
  expect(valueIn(service, 'a')).toBe(5);
  service.mishaps.push({ status: 403 });
  await expect(fence.enter(at('a', 1n))).rejects.toMatchObject({ code: 'STORE' });
});

test('what was written past the fence, or deleted, ends an entry', async () => {
  const { service, fence } = await started();
  const entry = await fence.enter(at('a', 1n));
  await entry.write(1);
  service.put('a', (service.texts.get('a') ?? '').replace('"value":1', '"value":7'));
  await expect(entry.write(2)).rejects.toThrow(/without passing the fence/);
  service.put('a', '{"value":8}');
  await expect(entry.write(2)).rejects.toThrow(/without passing the fence/);
  const next = await fence.enter(at('a', 1n));
  expect(next.value).toBe(8);
  service.texts.delete('a');
  await expect(next.write(9)).rejects.toThrow(/was deleted/);
  expect(service.texts.has('a')).toBe(false);
});

test('what is no fence, lease, access, option or key is refused', async () => {
  const { service, fence } = await started();
  for (const text of [
    ...['no JSON', '{"fence":null}', '{"fence":{"token":"1"}}', 'null'],
    ...['{"files":[]}', '{"value":1,"files":[]}', '[1]', '5'],
  ]) {
    service.put('a', text);
    await expect(fence.enter(at('a', 1n))).rejects.toThrow(/has no fence/);
    // It is not lost in a document of ours.
    expect(service.texts.get('a')).toBe(text);
  }
  const unfit = await fence.enter(at('unfit', 1n));
  for (const value of [undefined, 1n, () => {}]) {
    await expect(unfit.write(value as unknown as number)).rejects.toThrow(
      /cannot be kept in an object/,
    );
  }
  await unfit.write(1);
  const odd = '{"fence":{"lineage":"one","token":"x","floor":"0","entry":"e","seq":0}}';
  service.put('a', odd);
  await expect(fence.adopt(at('a', 1n))).rejects.toMatchObject({ code: 'USAGE' });
  await expect(fence.enter(at('b', 0n))).rejects.toThrow(/fencing token/);
  const reader = await fence.enter({ ...at('b', 1n), kind: 'read' });
  await expect(reader.write(1)).rejects.toThrow(/reader must not write/);
  const usage = expect.objectContaining({ code: 'USAGE' });
  for (const objects of [undefined, null, {}, { get: () => {} }] as unknown as ObjectAccess[]) {
    await expect(objectFence().enter(objects, at('a', 1n))).rejects.toEqual(usage);
    await expect(probeObjects(objects, 'a')).rejects.toEqual(usage);
  }
  expect(() => objectFence({ initially: 0 } as ObjectFenceOptions<unknown>)).toThrow(usage);
});

describe('services that cannot keep a fence are found out', () => {
  test.each(['weak', 'none'] as const)('those whose ETags are %s, at once', async (etags) => {
    const service = await ObjectServer.start({ etags });
    const entered = numbers(service.url).enter(at('a', 1n));
    await expect(entered).rejects.toMatchObject({ code: 'UNSUPPORTED', trait: 'ETag' });
  });

  test('those whose ETag stays the same when the fence is raised', async () => {
    const service = await ObjectServer.start();
    const objects = httpObjects({ url: service.url });
    /** Keeps the fence in metadata, of which ETags are not made. */
    let kept: string | undefined;
    const odd: ObjectAccess = {
      get: async (key) => {
        const found = await objects.get(key);
        return found && { ...found, text: kept ?? found.text };
      },
      put: (put) => {
        kept = put.text;
        return objects.put({ ...put, text: 'always the same' });
      },
    };
    const fence = numbersIn(odd);
    await fence.enter(at('a', 1n));
    const again = fence.enter(at('a', 1n));
    await expect(again).rejects.toMatchObject({ code: 'UNSUPPORTED', trait: 'ETag' });
  });
});

test('values share nothing with what an object begins with, or what was written', async () => {
  const service = await ObjectServer.start();
  const lists = objectFence<string[]>({ initial: [] });
  const fence = through(lists, httpObjects({ url: service.url }));
  const entry = await fence.enter(at('a', 1n));
  entry.value.push('one');
  await entry.write(entry.value);
  const written = ['two'];
  await entry.write(written);
  written.push('three');
  expect(entry.value).toEqual(['two']);
  expect((await fence.enter(at('b', 1n))).value).toEqual([]);
});

test('the status is found wherever a client keeps it', async () => {
  const service = await ObjectServer.start();
  const plain = httpObjects({ url: service.url });
  // Something else is where others keep it.
  for (const dress of [
    (status: number) => ({ $metadata: { httpStatusCode: status } }),
    (status: number) => ({ response: { status } }),
    (status: number) => ({ code: status, status: 'FAILED_PRECONDITION' }),
    (status: number) => ({ code: `${status}` }),
    (status: number) => ({ code: 'ERR_NON_2XX', response: { statusCode: status } }),
    (status: number) => ({ statusCode: status, code: 'E_STATUS', response: null }),
  ]) {
    const mend = ({ status }: { status: number }): never => {
      throw Object.assign(new Error('no'), dress(status));
    };
    const dressed = numbersIn({
      get: (key) => plain.get(key).catch(mend),
      put: (put) => plain.put(put).catch(mend),
    });
    const resource = `${dress}`.slice(0, 200);
    const late = await dressed.enter(at(resource, 1n));
    await dressed.enter(at(resource, 2n));
    await expect(late.write(1)).rejects.toMatchObject({ code: 'STALE_TOKEN', seen: 2n });
  }
});

test('an object is where get and put say', async () => {
  const service = await ObjectServer.start();
  const plain = httpObjects({ url: service.url });
  const own: ObjectAccess = {
    get: (key) => plain.get(`plans/${key}`),
    put: (put) => plain.put({ ...put, key: `plans/${put.key}` }),
  };
  await (await numbersIn(own).enter(at('a b/ß', 1n))).write(1);
  expect(valueIn(service, 'plans/a b/ß')).toBe(1);
});

test('holders at once lose no update', async () => {
  const service = await ObjectServer.start();
  const tokens = Array.from({ length: 30 }, (_, n) => BigInt(n + 1));
  const outcomes = await Promise.allSettled(
    tokens.map(async (token) => {
      const entry = await numbers(service.url).enter(at('stock', token));
      await entry.write(entry.value + 1);
    }),
  );
  const refused = outcomes.flatMap((each) => (each.status === 'rejected' ? [each.reason] : []));
  for (const error of refused) expect(error).toMatchObject({ code: 'STALE_TOKEN' });
  expect(outcomes.at(-1)?.status).toBe('fulfilled');
  expect(valueIn(service, 'stock')).toBe(tokens.length - refused.length);
});
