/** Many sessions on few resources, in batches: none waits for another in a circle. */
import { migrateMysql } from 'holdfast/mysql';
import { createPool } from 'mysql2';
import { createConnection } from 'mysql2/promise';
import { expect, test } from 'vitest';
import { claimOf } from '../faults/bed.ts';
import { startMariadb } from '../servers/mariadb-server.ts';
import { startMysql } from '../servers/mysql-server.ts';

const SESSIONS = 16;
const ROUNDS = 40;
const RESOURCES = ['a', 'b', 'c', 'd', 'e'];

test.each([
  ['MariaDB', startMariadb],
  ['MySQL', startMysql],
] as const)('%s: a storm of batches has no deadlock', { timeout: 120_000 }, async (_, start) => {
  await using server = { it: await start(), [Symbol.asyncDispose]: () => server.it.close() };
  const { it } = server;
  await migrateMysql(createPool(it.url.replace('mariadb:', 'mysql:')));
  const settings = JSON.stringify({
    ...{ maxTtl: 30_000, maxWaiters: 1000, trust: true, patience: 2000, wake: 'holdfast_' },
  });
  const failures: unknown[] = [];
  const storm = async (n: number): Promise<void> => {
    const { host, port } = it;
    const session = await createConnection({ host, port, user: 'root', database: 'test' });
    // Not what the procedures would choose.
    await session.query(
      `set session transaction isolation level ${n % 2 ? 'serializable' : 'repeatable read'}`,
    );
    await session.query(`set autocommit = ${n % 3 === 0 ? 0 : 1}`);
    const call = (verb: string, claims: readonly object[]): Promise<unknown> =>
      session
        .query(`call holdfast_${verb}(?, ?)`, [settings, JSON.stringify(claims)])
        .catch((error: { errno: number }) => failures.push(error.errno));
    for (let round = 0; round < ROUNDS; round++) {
      // In any order: the server puts the locks in order.
      const names = [...RESOURCES].sort(() => Math.random() - 0.5).slice(0, 1 + (round % 5));
      const claims = names.map((resource) => {
        const { id, permits, limit, holder } = claimOf(resource);
        const terms = {
          resource,
          id,
          kind: 'm',
          permits,
          limit,
          ttl: 20_000,
          queue: round % 2 > 0,
        };
        return { ...terms, address: '-', tag: '-', holder: JSON.stringify(holder) };
      });
      const leaving = claims.map(({ resource, id, ttl }) => ({
        ...{ resource, id, ttl, unanswered: round % 4 === 0, after: 0 },
      }));
      await call('claim', claims);
      await call('renew', leaving);
      await call('release', leaving);
      if (round % 10 === 0) await session.query('call holdfast_sweep()');
    }
    session.destroy();
  };
  await Promise.all(Array.from({ length: SESSIONS }, (_, n) => storm(n)));
  expect(failures).toEqual([]);
  const left = await it.query('select * from holdfast_claim');
  expect(left).toEqual([]);
  expect(await it.query('select name from holdfast_resource where id is not null')).toEqual([]);
});
