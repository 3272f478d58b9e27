/** The server dies, stands still, or ends sessions. */
import { describe, expect } from 'vitest';
import { hasWaiter, onServer } from '../../methods/faults/bed.ts';
import { loneServer } from '../../methods/faults/server.ts';
import { serversOfTheirOwn } from '../../methods/faults/sql-bed.ts';
import { patiently } from '../../support/patiently.ts';
import { until } from '../../support/until.ts';
import { Bed } from './fault-bed.ts';

serversOfTheirOwn();

describe.concurrent('a server', () => {
  loneServer(() => new Bed());
  const it = onServer(() => new Bed());

  it('ends the session of a holder, who is told why; the next gets it', async (bed, server) => {
    const [holding, waiting] = [bed.patientLocks(server), bed.patientLocks(server)];
    const lease = await patiently(holding.mutex('a'));
    const next = patiently(waiting.mutex('a'));
    await hasWaiter(waiting, 'a');
    const [held] = await bed.nodes('a');
    await server.endSession(held?.stat.session ?? 0n);
    await until('was it told', async () => lease.signal.aborted);
    expect(lease.state).toBe('lost');
    expect(lease.loss?.reason).toBe('session');
    expect((await next).takeover).toEqual({ reason: 'expired', token: lease.token });
    expect((await next).token).toBeGreaterThan(lease.token);
    await (await next).release();
    // It gets a new one.
    await (await holding.mutex('a').acquire()).release();
    await bed.end(server);
  });

  it('ends the session of a waiter, who comes again', async (bed, server) => {
    const [holding, waiting] = [bed.patientLocks(server), bed.patientLocks(server)];
    const lease = await patiently(holding.mutex('a'));
    const next = patiently(waiting.mutex('a'));
    await hasWaiter(holding, 'a');
    const [, first] = await bed.nodes('a');
    await server.endSession(first?.stat.session ?? 0n);
    await until('did it come again', async () => {
      const [, again] = await bed.nodes('a');
      return again !== undefined && again.stat.session !== first?.stat.session;
    });
    expect(lease.state).toBe('held');
    await lease.release();
    expect((await next).takeover).toEqual({ reason: 'released', token: lease.token });
    await (await next).release();
    await bed.end(server);
  });
});
