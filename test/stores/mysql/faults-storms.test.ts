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
  // Sessions that make the same rows at once may have one, which the store repeats: InnoDB gives
  // each a shared lock on what another is just making. No other statement has a part in it.
  for (const deadlock of server.log.split(/deadlock detected/i).slice(1)) {
    const transactions = deadlock.match(/\(\d+\) TRANSACTION:/g);
    expect(deadlock.match(/^INSERT IGNORE INTO holdfast_lock /gm), deadlock).toHaveLength(
      transactions?.length ?? 0,
    );
  }
});
