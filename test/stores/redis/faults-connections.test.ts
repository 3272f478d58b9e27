/** The network between a process and the server is gone, halfway gone, or slow. */
import { describe } from 'vitest';
import { onServer, sleep, TTL_MS } from '../../methods/faults/bed.ts';
import { holdersFaults, lateness } from '../../methods/faults/connections.ts';
import { recordFaults } from '../../methods/faults/records.ts';
import { Scene } from '../../methods/faults/scene.ts';
import { Bed, type ClientName } from './bed.ts';

const newBed = (): Bed => new Bed();
const onOwn = onServer(newBed);

holdersFaults(newBed, { ioredis: { client: 'ioredis' }, 'node-redis': { client: 'node-redis' } });

describe.each<ClientName>(['ioredis', 'node-redis'])('%s: a holder', (client) => {
  onOwn('whose connections the server kills goes on, so does the waiter', async (bed, server) => {
    const ttl = 3 * TTL_MS;
    const options = { client, maxTtl: ttl };
    const scene = await Scene.set(bed, { holder: server, others: server, ttl, options });
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
