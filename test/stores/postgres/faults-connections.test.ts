/** The network between a process and the server is gone, halfway gone, or slow. */
import { afterAll, describe } from 'vitest';
import { holdersFaults, lateness } from '../../methods/faults/connections.ts';
import { hearing } from '../../methods/faults/deaf.ts';
import { recordFaults } from '../../methods/faults/records.ts';
import { startPostgres } from '../../servers/postgres-server.ts';
import type { StoreOptions } from './bed.ts';
import { Bed } from './fault-bed.ts';

const server = await startPostgres();
afterAll(() => server.close());

const newBed = (): Bed => new Bed(server);

const CLIENTS: Readonly<Record<string, StoreOptions>> = {
  pg: { client: 'pg' },
  'postgres.js': { client: 'postgres' },
};

holdersFaults(newBed, CLIENTS);

describe('who could not listen', () => hearing(newBed, CLIENTS));

describe('what comes late', () => lateness(newBed));

describe('records', () => recordFaults(newBed));
