import { expect, it } from 'vitest';
import { destinationOf } from '../../../../src/clients/zookeeper/address.ts';
import { ZookeeperSession } from '../../../../src/clients/zookeeper/zookeeper-session.ts';
import { FakeClock, flush } from '../../../support/fake-clock.ts';
import { collect } from '../../../support/garbage.ts';

it('a request that ran out of time before there was a connection is not kept', async () => {
  const clock = new FakeClock();
  const nowhere = { ...destinationOf('zookeeper://127.0.0.1'), addresses: [] };
  const session = new ZookeeperSession(nowhere, clock);
  const ask = (): WeakRef<Buffer> => {
    const data = Buffer.alloc(10);
    session.create('/a', { data, timeoutMs: 300 }).catch(() => {});
    return new WeakRef(data);
  };
  const asked = Array.from({ length: 10 }, ask);
  await clock.advance(300);
  // In a job of its own, for what a job has seen lives as long as it does.
  await flush();
  collect();
  // The last one may still be on a stack.
  expect(asked.filter((data) => data.deref()).length).toBeLessThanOrEqual(1);
  session.abandon();
});
