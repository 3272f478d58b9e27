/** A storm where the server orders transactions strictly, and its record of deadlocks. */
import { expect, test } from 'vitest';
import { expectCalmStorm } from '../../methods/faults/sql-calls.ts';
import { startMariadb } from '../../servers/mariadb-server.ts';
import { closing } from '../../support/closing.ts';
import { World } from './caller.ts';

test('a storm on a server whose sessions are serializable unless they say otherwise', async () => {
  const config = ['--transaction-isolation=SERIALIZABLE', '--innodb-print-all-deadlocks=1'];
  const server = closing(await startMariadb({ config }));
  const world = closing(await new World(server).migrated());
  await expectCalmStorm(
    async () => world.caller(),
    () => world.sweep(),
  );
  expect(server.log).not.toMatch(/deadlock detected/i);
});
