/** What servers tell the doctor of themselves, and what is left if they refuse. */
import { createServer } from 'node:http';
import { hostname } from 'node:os';
import type { ObjectAccess } from 'holdfast/objects';
import { describe, expect, it, onTestFinished } from 'vitest';
import { httpFacts } from '../../../src/clients/facts/server-facts.ts';
import { versionAt } from '../../../src/clients/facts/zookeeper-facts.ts';
import { versionIn } from '../../../src/stores/consul/open-url.ts';
import { dynamodbFacts, hazardsOf } from '../../../src/stores/dynamodb/open-url.ts';
import { objectFacts } from '../../../src/stores/objects/open-url.ts';
import { httpObjects } from '../../fences/numbers.ts';
import { ObjectServer } from '../../fences/object-server.ts';
import { client } from '../../stores/dynamodb/table.ts';
import { portOf } from '../../support/listening.ts';

/** To within 5 s: `Date` counts seconds, and a busy machine stands still. */
const AGREES = { aheadMs: expect.closeTo(0, -4), withinMs: expect.any(Number) };

describe('a service of objects', () => {
  const find = async (objects: ObjectAccess) => (await objectFacts(objects, 'locks')).hazards;

  it('that ignores a condition is a hazard', async () => {
    const { url } = await ObjectServer.start({ ignores: ['if-match'] });
    expect(await find(httpObjects({ url }))).toEqual([
      'The service does not honour If-Match, so it can keep neither fences nor locks.',
    ]);
  });

  it('is not blamed for what another doctor writes meanwhile', async () => {
    const service = await ObjectServer.start();
    const objects = httpObjects({ url: service.url });
    let found = 0;
    const get: ObjectAccess['get'] = async (key) => {
      const object = await objects.get(key);
      if (++found === 1) service.put(`doctor/${hostname()}`, 'of another doctor');
      return object;
    };
    expect(await find({ ...objects, get })).toEqual([]);
  });

  it('that refuses to be tried is a hazard, and has a clock', async () => {
    const forbidden = Object.assign(new Error('Access Denied'), { status: 403 });
    const { hazards, clock } = await objectFacts(
      {
        get: async () => ({ text: '{}', etag: '"1"', nowMs: Date.now() }),
        put: () => Promise.reject(forbidden),
      },
      'locks',
    );
    expect(hazards).toEqual([expect.stringMatching(/^it is not known .*: .*Access Denied/)]);
    expect(clock).toEqual(AGREES);
  });
});

it.each([
  [403, 'Permission denied'],
  [502, `<html>\n${'<p>Bad gateway</p>\r\n'.repeat(1_000)}`],
  [200, '<html>Log in first</html>'],
])(
  'an agent of Consul that refuses with %i has a clock, and why in one short line',
  async (status, text) => {
    const reply = { status, headers: { date: new Date().toUTCString() }, text };
    const { version, clock } = await httpFacts('Consul', async () => reply, versionIn);
    expect(version).toMatch(/^Consul, which does not tell its version: .+$/);
    expect(version).toContain(`HTTP ${status}: ${text.slice(0, 6)}`);
    expect(version.length).toBeLessThan(250);
    expect(clock).toEqual(AGREES);
  },
);

describe('a server of ZooKeeper', () => {
  it.each([
    [
      'without a quorum',
      'This ZooKeeper instance is not currently serving requests\n',
      'the server has no quorum to serve with',
    ],
    [
      'that may not tell it',
      'srvr is not executed because it is not in the whitelist.\n',
      'the server does not answer `srvr`; see its 4lw.commands.whitelist',
    ],
  ])('%s does not tell its version, and why', async (_, reply, why) => {
    const told = await versionAt('zookeeper://server', async () => reply);
    expect(told).toBe(`ZooKeeper, which does not tell its version: ${why}`);
  });

  it('tells its version beside one that is down', async () => {
    const told = await versionAt('zookeeper://down,up', async ({ host }) => {
      if (host === 'down') throw new Error('no');
      return 'Zookeeper version: 3.8.0-5a02a05, built on 2022-02-25\nMode: follower\n';
    });
    expect(told).toBe('ZooKeeper 3.8.0, follower');
  });
});

describe('a table of DynamoDB', () => {
  it('that several Regions write is a hazard, unless they agree on each write', () => {
    const Replicas = [{ RegionName: 'us-west-2' }];
    expect(hazardsOf({ Replicas })).toEqual([expect.stringMatching(/also in us-west-2, without/)]);
    expect(hazardsOf({ Replicas, MultiRegionConsistency: 'STRONG' })).toEqual([]);
    expect(hazardsOf({})).toEqual([]);
  });

  it('that may not be described has a clock', async () => {
    const type = 'com.amazon.coral.service#AccessDeniedException';
    const denied = { __type: type, Message: 'You may not' };
    const service = createServer(({ headers }, response) => {
      const describes = /DescribeTable$/.test(String(headers['x-amz-target']));
      response.writeHead(describes ? 400 : 200).end(JSON.stringify(describes ? denied : {}));
    });
    const sdk = client(await portOf(service));
    onTestFinished(() => {
      sdk.destroy();
      service.close();
    });
    expect(await dynamodbFacts(sdk, 'locks')).toEqual({
      version: 'DynamoDB, which does not describe the table locks: You may not',
      clock: AGREES,
    });
  });
});
