/** The network between a process and the server is gone, halfway gone, or slow. */
import { afterAll, describe } from 'vitest';
import { holdersFaults, lateness } from '../faults/connections.ts';
import { startMariadb } from '../servers/mariadb-server.ts';
import { Bed } from './fault-bed.ts';

const server = await startMariadb();
afterAll(() => server.close());

const newBed = (): Bed => new Bed(server);

holdersFaults(newBed, {
  mysql2: { client: 'mysql2' },
  mariadb: { client: 'mariadb' },
});

describe('what comes late', () => lateness(newBed));
