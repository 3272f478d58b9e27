/** A storm where the database orders transactions strictly, and its record of deadlocks. */
import { expect, test } from 'vitest';
import { expectCalmStorm } from '../../methods/faults/sql-calls.ts';
import { Bed } from './bed.ts';
import { asked, callerOf, sweep } from './caller.ts';

test('a storm on a database that is serializable unless sessions say otherwise', async () => {
  await using bed = new Bed();
  const server = await bed.server();
  await server.query("ALTER DATABASE postgres SET default_transaction_isolation = 'serializable'");
  // Nothing is granted before a program has recorded that no data was lost.
  await bed.use(callerOf(server)).claim([asked('the first')]);
  await expectCalmStorm(
    async () => bed.use(callerOf(server)),
    () => sweep(server),
  );
  expect(server.log).not.toContain('deadlock detected');
});
