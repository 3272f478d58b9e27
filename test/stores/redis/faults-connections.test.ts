/** The network between a process and the server is gone, halfway gone, or slow. */
import { describe, test } from 'vitest';
import { sleep, TTL_MS } from '../../methods/faults/bed.ts';
import { holdersFaults, lateness } from '../../methods/faults/connections.ts';
import { recordFaults } from '../../methods/faults/records.ts';
import { Scene } from '../../methods/faults/scene.ts';
import { Bed, type ClientName } from './bed.ts';

const newBed = (): Bed => new Bed();

holdersFaults(newBed, { ioredis: { client: 'ioredis' }, 'node-redis': { client: 'node-redis' } });

describe.each<ClientName>(['ioredis', 'node-redis'])('%s: a holder', (client) => {
  test.concurrent('whose connections the server kills goes on, so does the waiter', async () => {
    await using bed = new Bed();
    const server = await bed.server();
    const ttl = 3 * TTL_MS;
    const scene = await Scene.set(bed, {
      ...{ holder: server, others: server, ttl, options: { client, maxTtl: ttl } },
    });
    await server.command('CLIENT', 'KILL', 'TYPE', 'NORMAL');
    await sleep(ttl / 2);
    // The message that the waiter is next is sent while it does not listen.
    await server.command('CLIENT', 'KILL', 'TYPE', 'PUBSUB');
    await scene.expectUndisturbed(0);
    await scene.leave(server);
  });
});

describe('what comes late', () => lateness(newBed));

describe('a record', () => recordFaults(newBed));
