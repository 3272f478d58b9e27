/** The fence in objects, on a server that speaks as S3 does. */
import { type ObjectAccess, probeObjects } from 'holdfast/fence';
import { type FenceFixture, fenceConformance } from 'holdfast/testkit';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { missing } from '../../servers/programs.ts';
import { S3Server, SIGNED } from '../../servers/s3-server.ts';
import { at, fixtureOf, httpObjects, numbersIn } from '../numbers.ts';

const why = await missing('python');
beforeEach(({ skip }) => skip(why !== undefined, why));

let server: S3Server;
let url: string;
beforeAll(async () => {
  if (why !== undefined) return;
  server = await S3Server.start();
  url = await server.bucket('plans');
});
afterAll(() => server?.close());

const objects = (place = url): ObjectAccess => httpObjects({ url: place, headers: SIGNED });

const numbers = (): ReturnType<typeof numbersIn> => numbersIn(objects());

async function valueAt(key: string): Promise<number> {
  const response = await fetch(`${url}${encodeURIComponent(key)}`, { headers: SIGNED });
  return response.ok ? JSON.parse(await response.text()).value : 0;
}

describe('S3', () => {
  fenceConformance({ test, create: (resource) => fixtureFor(resource) });
});

let count = 0;

/** An object of its own, whose name is in need of encoding. */
function fixtureFor(resource: string): FenceFixture {
  const key = `${resource} ${count++}`;
  const plain = objects();
  const fence = numbersIn({ get: () => plain.get(key), put: (put) => plain.put({ ...put, key }) });
  return fixtureOf(fence, () => valueAt(key));
}

test('it passes the probe, again and again', async () => {
  await probeObjects(objects(), 'probe');
  await probeObjects(objects(), 'probe');
});

test('a bucket or an object that is gone is told as what it is', async () => {
  const nowhere = numbersIn(objects(`${server.url}/nowhere/`));
  const failed = { code: 'STORE', retryable: false, outcome: 'failed' };
  await expect(nowhere.enter(at('a', 1n))).rejects.toMatchObject(failed);
  const entry = await numbers().enter(at('gone', 1n));
  await fetch(`${url}gone`, { method: 'DELETE', headers: SIGNED });
  await expect(entry.write(1)).rejects.toThrow(/was deleted/);
  const unsigned = numbersIn(httpObjects({ url }));
  await numbers().enter(at('mine', 1n));
  await expect(unsigned.enter(at('mine', 1n))).rejects.toMatchObject(failed);
});
