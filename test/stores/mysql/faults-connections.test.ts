/** The network between a process and the server is gone, halfway gone, or slow. */
import { afterAll, describe } from 'vitest';
import { holdersFaults, lateness } from '../../methods/faults/connections.ts';
import { hearing } from '../../methods/faults/deaf.ts';
import { recordFaults } from '../../methods/faults/records.ts';
import { Bed, PRODUCTS } from './fault-bed.ts';

describe.each(PRODUCTS)('%s', async (_, start) => {
  const server = await start();
  afterAll(() => server.close());

  const newBed = (): Bed => new Bed(server);

  holdersFaults(newBed, { mysql2: { client: 'mysql2' }, mariadb: { client: 'mariadb' } });

  describe('who could not listen', () => hearing(newBed, { mysql2: { client: 'mysql2' } }));

  describe('what comes late', () => lateness(newBed));

  describe('records', () => recordFaults(newBed));
});
