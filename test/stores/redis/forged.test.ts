/** What messages of a user can do who may read all keys and send messages, but write nothing. */
import { test } from 'vitest';
import { expectNoForgery } from '../../methods/faults/forged.ts';
import { Bed } from './bed.ts';
import { READER, readerOn, settled } from './reader.ts';

test('a user that may only read and publish makes nobody hold a lock', async () => {
  await using bed = new Bed();
  const server = await bed.server({ config: [READER] });
  const { redis, send } = await readerOn(bed, server);
  const rows = async (name: string) => {
    const fields = await redis.hgetallBuffer(`holdfast::${name}`);
    return Object.values(fields).map((field) => field.toString('latin1'));
  };
  const [holder, waiter] = [bed.patientLocks(server), bed.patientLocks(server)];
  await expectNoForgery(
    { holder, waiter },
    {
      tags: async (name) =>
        (await rows(name)).flatMap((row) => row.match(/(?<=tag\xb6)[\w-]{22}/g) ?? []),
      words: async (name) => (await rows(name)).flatMap((row) => row.match(/[0-9a-f]{32}/g) ?? []),
      send,
    },
    () => settled(waiter),
  );
});
