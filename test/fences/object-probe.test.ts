/** Services that cannot keep a fence, and how the probe finds them, on a real HTTP server. */
import { type ObjectAccess, probeObjects } from 'holdfast/fence';
import { describe, expect, test } from 'vitest';
import { until } from '../support/until.ts';
import { httpObjects } from './numbers.ts';
import { ObjectServer, type ServiceOptions } from './object-server.ts';

const probed = ({ url }: ObjectServer): Promise<void> =>
  probeObjects(httpObjects({ url }), 'probe');

const UNCONDITIONAL = { code: 'UNSUPPORTED', trait: 'conditional writes' };

describe('the probe finds', () => {
  test.each<[string, ServiceOptions]>([
    ['If-Match', { ignores: ['if-match'] }],
    ['If-None-Match', { ignores: ['if-none-match'] }],
  ])('those that ignore %s, by the probe', async (_, options) => {
    await expect(probed(await ObjectServer.start(options))).rejects.toMatchObject(UNCONDITIONAL);
  });

  test('and an honest one passes it, again and again', async () => {
    const service = await ObjectServer.start();
    await probed(service);
    await probed(service);
    // Each of its first requests may be lost, or come at a bad time.
    for (const mishap of ['lost after it was carried out', { status: 409 }] as const) {
      for (const n of [0, 1, 2, 3, 4, 5]) {
        service.mishaps.push(...Array(n).fill(undefined), mishap);
        await probed(service);
      }
    }
    service.mishaps.push(undefined, undefined, undefined, undefined, { status: 403 });
    await expect(probed(service)).rejects.toMatchObject({ code: 'STORE', retryable: false });
  });

  test('those that compare first and write then, by the probe', async () => {
    let sent = 0;
    // All look before the first one writes; but for the two that have to be refused.
    const beforeWriting = (): Promise<void> =>
      until('all have looked', async () => service.looked + 2 >= sent);
    const service: ObjectServer = await ObjectServer.start({ beforeWriting });
    const objects = httpObjects({ url: service.url });
    const counted: ObjectAccess = {
      ...objects,
      put: (put) => {
        sent++;
        return objects.put(put);
      },
    };
    await expect(probeObjects(counted, 'probe')).rejects.toThrow(/in one step/);
  });

  test('those that know no conditions, by the probe', async () => {
    const service = await ObjectServer.start();
    service.mishaps.push(undefined, { status: 501 });
    await expect(probed(service)).rejects.toMatchObject(UNCONDITIONAL);
  });

  test('those that name an object otherwise in reply to a PUT, by the probe', async () => {
    const service = await ObjectServer.start();
    const objects = httpObjects({ url: service.url });
    const odd: ObjectAccess = {
      get: objects.get,
      put: async (put) => (await objects.put(put))?.replace(/"$/, '-1"'),
    };
    await expect(probeObjects(odd, 'probe')).rejects.toThrow(/same ETag/);
  });
});
