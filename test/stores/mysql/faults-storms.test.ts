/** Sixteen processes at once, where the server orders transactions strictly; and their record. */
import { expect, test } from 'vitest';
import { expectOrderIn, STORM_TTL_MS } from '../../methods/faults/storm.ts';
import { startMariadb } from '../../servers/mariadb-server.ts';
import { Bed } from './fault-bed.ts';

/** What the server may say to who comes at a bad moment: he is asked to come again. */
const PASSING = /1205|1213/;

test('a storm on a server whose sessions are serializable unless they say otherwise', async () => {
  await using bed = new Bed(startMariadb);
  const config = ['--transaction-isolation=SERIALIZABLE', '--innodb-print-all-deadlocks=1'];
  const server = await bed.server({ config });
  const url = bed.urlOf(server, STORM_TTL_MS);
  const said = await expectOrderIn([url, url.replace('mysql:', 'mariadb:')]);
  expect(said.filter((each) => !PASSING.test(each))).toEqual([]);
  expect(server.log).not.toMatch(/deadlock detected/i);
  await bed.leave();
  await bed.expectNothingLeft(server);
});
