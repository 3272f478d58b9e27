/** What messages of a user can do who may read all keys and send messages, but write nothing. */
import { Redis } from 'ioredis';
import { expect, test } from 'vitest';
import { expectNoForgery } from '../../methods/faults/forged.ts';
import { Bed } from './bed.ts';

const READER = 'user reader on >pw resetchannels &* ~* -@all +@read +info +publish +pubsub +select';

test('a user that may only read and publish makes nobody hold a lock', async () => {
  await using bed = new Bed();
  const server = await bed.server({ config: [READER] });
  const reader = bed.use({
    redis: new Redis({ ...server, username: 'reader', password: 'pw' }),
    async close() {
      this.redis.disconnect();
    },
  }).redis;
  await expect(reader.set('holdfast::gold', '')).rejects.toThrow('NOPERM');
  const rows = async (name: string) => {
    const fields = await reader.hgetallBuffer(`holdfast::${name}`);
    return Object.values(fields).map((field) => field.toString('latin1'));
  };
  const [holder, waiter] = [bed.patientLocks(server), bed.patientLocks(server)];
  const settled = async () => {
    await waiter.inspect('gold');
    await waiter.inspect('gold');
  };
  await expectNoForgery(
    { holder, waiter },
    {
      tags: async (name) =>
        (await rows(name)).flatMap((row) => row.match(/(?<=tag\xb6)[\w-]{22}/g) ?? []),
      words: async (name) => (await rows(name)).flatMap((row) => row.match(/[0-9a-f]{32}/g) ?? []),
      async send(message) {
        for (const channel of (await reader.pubsub('CHANNELS')) as string[]) {
          await reader.publish(channel, message);
        }
      },
    },
    settled,
  );
});
