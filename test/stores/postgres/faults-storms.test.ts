/** Sixteen processes at once, where the server orders transactions strictly; and their record. */
import { expect, test } from 'vitest';
import { expectOrderIn, STORM_TTL_MS } from '../../methods/faults/storm.ts';
import { startPgbouncer } from '../../servers/pgbouncer.ts';
import { Bed } from './fault-bed.ts';

/** What the server may say to who comes at a bad moment: he is asked to come again. */
const PASSING = /55P03/;

test('a storm on a database that is serializable, half of it through a pooler', async () => {
  await using bed = new Bed();
  const server = await bed.server({ config: ['max_connections = 100'] });
  await server.query("ALTER DATABASE postgres SET default_transaction_isolation = 'serializable'");
  const pooler = bed.serve(await startPgbouncer(server, { mode: 'transaction', poolSize: 8 }));
  const said = await expectOrderIn([server, pooler].map((at) => bed.urlOf(at, STORM_TTL_MS)));
  expect(said.filter((each) => !PASSING.test(each))).toEqual([]);
  expect(server.log).not.toContain('deadlock detected');
  await bed.leave();
  await pooler.close();
  await bed.expectNothingLeft(server);
});
