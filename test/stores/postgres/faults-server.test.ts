/** The server dies, stands still, ends sessions, or loses what it was allowed to lose. */
import { describe, test } from 'vitest';
import { serversOfTheirOwn } from '../../methods/faults/sql-bed.ts';
import { expectContainedLoss, rowFaults, serverFaults } from '../../methods/faults/sql-server.ts';
import { Bed } from './fault-bed.ts';

serversOfTheirOwn();

/** So lazy that a crash comes before what is committed is on disk. */
const LAZY = ['wal_writer_delay = 10s', 'wal_writer_flush_after = 0'];

describe.concurrent('a server', () => serverFaults(() => new Bed()));

describe.concurrent('a transaction locks', () => rowFaults(() => new Bed()));

describe.concurrent('a server that need not wait for its disk', () => {
  test('dies and comes back: whatever it forgot, nobody gets it before it is over', async () => {
    await using bed = new Bed();
    const server = await bed.server({ config: LAZY });
    await expectContainedLoss({ bed, server, options: { durability: 'fast' } });
  });
});
