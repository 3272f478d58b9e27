import assert from 'node:assert/strict';
import { downgrade } from '../../../../src/primitives/downgrade.ts';
import { check, type Topic } from '../../../../src/testkit/case.ts';
import { Occupancy } from '../../../support/gate.ts';
import { later, untilItWaits } from './waits.ts';

export const rwLock: Topic = {
  topic: 'rwLock',
  needs: ['queue', 'permits'],
  cases: [
    check('readers share, writers exclude', async (bed) => {
      const stores = [bed.store, await bed.connect()];
      const locks = stores.map((store) => bed.locks({}, store).rwLock(bed.name()));
      const [readers, writers] = [new Occupancy(), new Occupancy()];
      const read = async () => {
        assert.equal(writers.inside, 0);
        readers.enter();
        await bed.sleep(2);
        readers.leave();
      };
      const write = async () => {
        assert.equal(readers.inside, 0);
        writers.enter();
        await bed.sleep(2);
        writers.leave();
      };
      const task = (i: number) =>
        i % 5 === 0 ? locks[i % 2]?.write.run(write) : locks[i % 2]?.read.run(read);
      await Promise.all(Array.from({ length: 40 }, (_, i) => task(i)));
      assert.deepEqual([writers.most, writers.entries, readers.entries], [1, 8, 32]);
      assert.ok(readers.most > 1, 'readers share');
    }),
    check(
      'a downgraded writer lets readers in, keeps writers out and keeps its token',
      ['downgrade'],
      async (bed) => {
        const [one, other] = [bed.locks().rwLock(bed.name()), bed.locks().rwLock(bed.name())];
        const lease = await one.write.acquire();
        const { token } = lease;
        const reader = later(other.read.acquire());
        await untilItWaits(bed);
        await downgrade(lease);
        await downgrade(lease);
        assert.ok((await reader).held);
        assert.deepEqual([lease.held, lease.kind, lease.token], [true, 'read', token]);
        assert.equal(await other.write.tryAcquire(), null);
        await lease.release();
        await (await reader).release();
        assert.ok((await other.write.acquire()).token > token);
      },
    ),
  ],
};
