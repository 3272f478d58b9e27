import { expect, it } from 'vitest';
import { refused, sessionExpired } from '../../../../src/clients/zookeeper/errors.ts';
import type { ZookeeperSession } from '../../../../src/clients/zookeeper/zookeeper-session.ts';
import { Tree } from '../../../../src/stores/zookeeper/layout.ts';
import { ZookeeperClaims } from '../../../../src/stores/zookeeper/own-claims.ts';
import { uuidOf } from '../../../../src/stores/zookeeper/places.ts';
import { Sessions } from '../../../../src/stores/zookeeper/sessions.ts';
import { renewAll } from '../../../../src/stores/zookeeper/verbs/renew.ts';
import { Tombstones } from '../../../../src/stores/zookeeper/verbs/tombstones.ts';
import { claimOf } from '../../../methods/faults/bed.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

function played() {
  const [clock, tree] = [new FakeClock(), new Tree('')];
  const nodes = new Map([[tree.lineage, 'one']]);
  const session = {
    ...{ state: 'connected', touchedAt: clock.now(), timeoutMs: 4500 },
    listed: [] as string[],
    listen: () => {},
    now: () => clock.now(),
    getChildren: async () => ({ children: session.listed, stat: {} }),
    getData: async (path: string) => {
      const data = nodes.get(path);
      if (data === undefined) throw refused(-101, path);
      return { data: Buffer.from(data) };
    },
    delete: async (path: string) => void nodes.delete(path),
    multi: async () => {
      session.state = 'expired';
      throw sessionExpired('server', true);
    },
  };
  const client = { start: () => session as unknown as ZookeeperSession };
  const unused = { alarm: () => {}, clear: async () => {}, drop: () => {} };
  const sessions = new Sessions({ client, tree, clock, ...unused });
  const [own, tombstones] = [new ZookeeperClaims(tree, clock), new Tombstones(tree, clock)];
  const parts = { tree, clock, sessions, own, tombstones, maxWaiters: 1 };
  return { session, nodes, parts };
}

it('a session that ends during a heartbeat is named as the reason', async () => {
  const { parts } = played();
  const claim = claimOf('a', { ttlMs: 3000 });
  parts.own.add(claim, await parts.sessions.lend(claim.ttlMs)).path = '/a/node';
  expect(await renewAll(parts, [claim])).toEqual([{ state: 'gone', why: 'session' }]);
});

it("another process's claim whose node goes after the list is told of its eviction", async () => {
  const { session, nodes, parts } = played();
  const claim = claimOf('a');
  session.listed = [`_c_${uuidOf(claim)}-lock-0000000000`];
  nodes.set(parts.tree.tombstone(uuidOf(claim)), 'by hand');
  const evicted = { state: 'gone', why: 'evicted', detail: 'by hand' };
  expect(await renewAll(parts, [claim])).toEqual([evicted]);
});
