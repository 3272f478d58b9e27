/** The server dies, stands still, ends sessions, or loses what it was allowed to lose. */
import { describe, test } from 'vitest';
import { serversOfTheirOwn } from '../../methods/faults/sql-bed.ts';
import { expectContainedLoss, rowFaults, serverFaults } from '../../methods/faults/sql-server.ts';
import { Bed, PRODUCTS } from './fault-bed.ts';

serversOfTheirOwn();

/** So lazy that a crash comes before what is committed is on disk, its own laziness included. */
const LAZY = ['--innodb-flush-log-at-trx-commit=0', '--innodb-flush-log-at-timeout=10'];

describe.concurrent.each(PRODUCTS)('%s', (_, start) => {
  describe('a server', () => serverFaults(() => new Bed(start)));

  describe('a transaction locks', () => rowFaults(() => new Bed(start)));

  describe('a server that does not wait for its disk', () => {
    test('dies and comes back: whatever it forgot, nobody gets it before it is over', async () => {
      await using bed = new Bed(start);
      const server = await bed.server({ config: LAZY });
      await expectContainedLoss({ bed, server });
    });
  });
});
