import { expect, it } from 'vitest';
import { sessionExpired } from '../../../../src/clients/zookeeper/errors.ts';
import type { ZookeeperSession } from '../../../../src/clients/zookeeper/zookeeper-session.ts';
import { Tree } from '../../../../src/stores/zookeeper/layout.ts';
import { ZookeeperClaims } from '../../../../src/stores/zookeeper/own-claims.ts';
import { Sessions } from '../../../../src/stores/zookeeper/sessions.ts';
import { renewAll } from '../../../../src/stores/zookeeper/verbs/renew.ts';
import { Tombstones } from '../../../../src/stores/zookeeper/verbs/tombstones.ts';
import { claimOf } from '../../../methods/faults/bed.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

it('a session that ends during a heartbeat is named as the reason', async () => {
  const [clock, tree] = [new FakeClock(), new Tree('')];
  const session = {
    ...{ state: 'connected', touchedAt: clock.now(), timeoutMs: 4500 },
    listen: () => {},
    now: () => clock.now(),
    getData: async () => ({ data: Buffer.from('one') }),
    multi: async () => {
      session.state = 'expired';
      throw sessionExpired('server', true);
    },
  };
  const client = { start: () => session as unknown as ZookeeperSession };
  const unused = { alarm: () => {}, clear: async () => {}, drop: () => {} };
  const sessions = new Sessions({ client, tree, clock, ...unused });
  const [own, tombstones] = [new ZookeeperClaims(tree, clock), new Tombstones(tree, clock)];
  const claim = claimOf('a', { ttlMs: 3000 });
  own.add(claim, await sessions.lend(claim.ttlMs)).path = '/a/node';
  const parts = { tree, clock, sessions, own, tombstones, maxWaiters: 1 };
  expect(await renewAll(parts, [claim])).toEqual([{ state: 'gone', why: 'session' }]);
});
