/** The server dies, stands still, or forgets what was long ago. */
import { describe, expect } from 'vitest';
import { hasWaiter, onServer } from '../../methods/faults/bed.ts';
import { loneServer } from '../../methods/faults/server.ts';
import { serversOfTheirOwn } from '../../methods/faults/sql-bed.ts';
import { patiently } from '../../support/patiently.ts';
import { Bed, compact } from './fault-bed.ts';

serversOfTheirOwn();

describe.concurrent('a server', () => {
  loneServer(() => new Bed());
  const it = onServer(() => new Bed());

  it('dies, and compacts before the watches are back: nobody is lost', async (bed, server) => {
    // They outlive the test: only what is heard or read lets the other one in.
    const [holding, waiting] = [bed.patientLocks(server), bed.patientLocks(server)];
    const lease = await patiently(holding.mutex('a'));
    const next = patiently(waiting.mutex('a'));
    await hasWaiter(waiting, 'a');
    const oldest = ['--sort-by=CREATE', '--limit=1', '--keys-only', '--prefix'];
    const claim = await server.etcdctl('get', ...oldest, `${bed.prefix}a/`);
    await server.kill();
    await server.start();
    await server.etcdctl('del', claim.trim());
    await compact(server);
    expect((await next).token).toBeGreaterThan(lease.token);
    await (await next).release();
  });
});
