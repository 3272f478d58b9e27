/** When Sentinels are listened to, on wires that do what a test says. */
import { expect, test } from 'vitest';
import { REDIS, type RedisSource, type RedisWire } from '../../../src/clients/redis/connection.ts';
import { Failovers } from '../../../src/clients/redis/failovers.ts';
import { gate } from '../../support/gate.ts';
import { until } from '../../support/until.ts';

const done = async (): Promise<void> => {};
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** It can be reached once `reached` settles, and has the subscription once `heard` does. */
function sentinel({ reached = done(), heard = done() }): RedisSource {
  const wire: RedisWire = {
    send: done,
    listen: () => heard,
    unlisten: done,
    sharded: { listen: done, unlisten: done },
    ping: done,
    unref: () => {},
    close: () => {},
  };
  return { ...REDIS, open: () => reached.then(() => wire) };
}

test('a group is ready once all of its Sentinels are listened to', async () => {
  const way = gate();
  const failovers = new Failovers('g', [sentinel({}), sentinel({ heard: way.opened })]);
  let ready = false;
  const end = failovers.watch(() => {});
  void failovers.ready.then(() => {
    ready = true;
  });
  await turn();
  expect(ready).toBe(false);
  way.open();
  await failovers.ready;
  end();
});

test('one that does not reply is not waited for; what it has said counts as missed', async () => {
  const way = gate();
  const failovers = new Failovers('g', [sentinel({}), sentinel({ reached: way.opened })]);
  let moves = 0;
  const end = failovers.watch(() => moves++);
  await failovers.ready;
  expect(moves).toBe(0);
  way.open();
  await until('did it count', () => moves === 1);
  end();
});
