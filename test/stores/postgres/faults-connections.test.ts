/** The network between a process and the server is gone, halfway gone, or slow. */
import { afterAll, describe } from 'vitest';
import { holdersFaults, lateness } from '../../methods/faults/connections.ts';
import { recordFaults } from '../../methods/faults/records.ts';
import { startPostgres } from '../../servers/postgres-server.ts';
import { Bed } from './fault-bed.ts';

const server = await startPostgres();
afterAll(() => server.close());

const newBed = (): Bed => new Bed(server);

holdersFaults(newBed, {
  pg: { client: 'pg' },
  'postgres.js': { client: 'postgres' },
});

describe('what comes late', () => lateness(newBed));

describe('records', () => recordFaults(newBed));
