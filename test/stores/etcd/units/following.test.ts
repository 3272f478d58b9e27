import { expect, it } from 'vitest';
import type { EtcdClient, EtcdWatcher } from '../../../../src/clients/etcd/client.ts';
import { QueueWatch } from '../../../../src/stores/etcd/following.ts';
import { KeySpace } from '../../../../src/stores/etcd/layout.ts';
import { textOf } from '../../../../src/stores/etcd/places.ts';
import { claimOf } from '../../../methods/faults/bed.ts';
import { FakeClock } from '../../../support/fake-clock.ts';

it('all who wait for one claim go on as soon as the watch has it', async () => {
  const [clock, keys, claim] = [new FakeClock(), new KeySpace(''), claimOf('a')];
  const watchers: EtcdWatcher[] = [];
  const client = {
    txn: async () => ({ revision: 1n, answers: [{ range: { kvs: [], count: 0 } }] }),
    watch: (watcher: EtcdWatcher) => {
      watchers.push(watcher);
      return { [Symbol.dispose]: () => {} };
    },
  } as unknown as EtcdClient;
  const queue = new QueueWatch({ client, keys, clock, resource: 'a', wake: () => {} });
  queue.start();
  watchers[0]?.started(1n);
  await clock.rest();
  const [key, seen] = [keys.claim('a', claim.id), [] as (number | undefined)[]];
  for (let n = 0; n < 2; n++) void queue.viewWith(key).then((view) => seen.push(view?.find(key)));
  const revisions = { createRevision: 2n, modRevision: 2n, version: 1n };
  const kv = { key, value: textOf(claim), ...revisions, lease: 1n };
  watchers[0]?.changed([{ deleted: false, kv }], 2n);
  // No time has passed.
  await clock.rest();
  expect(seen).toEqual([0, 0]);
});
