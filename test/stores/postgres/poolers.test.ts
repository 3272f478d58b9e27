/** Through pgbouncer, which in transaction mode gives each transaction another session. */
import { type Claim, type ClaimStatus, MAX_PERMITS } from 'holdfast/store';
import { beforeAll, describe, expect, test } from 'vitest';
import { hearWarnings } from '../../methods/faults/warnings.ts';
import { type Pgbouncer, startPgbouncer } from '../../servers/pgbouncer.ts';
import { paced } from '../../support/this-run.ts';
import { until } from '../../support/until.ts';
import { CLIENTS, claimOf, hasWaiter, sharedServer, sleep } from './bed.ts';

const { bed, server } = await sharedServer();

describe.each(['transaction', 'session'] as const)('in %s mode', (mode) => {
  let pooler: Pgbouncer;
  beforeAll(async () => {
    // Fewer sessions than there are connections, so that they change hands all the time.
    const poolSize = mode === 'transaction' ? 2 : 40;
    pooler = bed.serve(await startPgbouncer(server, { mode, poolSize }));
  });

  test.each(CLIENTS)('%s: locks pass from one to the other, without messages', async (client) => {
    const warnings = hearWarnings();
    const [one, two] = [bed.locks(pooler, { client }), bed.locks(pooler, { client })];
    const name = `${mode} ${client}`;
    for (let round = 0; round < 20; round++) {
      const lease = await one.mutex(name, { fair: true }).acquire();
      const next = two.mutex(name, { fair: true }).acquire();
      await hasWaiter(one, name);
      await lease.release();
      const won = await next;
      expect(won.token).toBeGreaterThan(lease.token);
      await won.release();
    }
    expect(warnings.codes.filter((code) => code !== 'HOLDFAST_POOLER')).toEqual([]);
    expect(warnings.codes).toHaveLength(2);
    warnings.close();
  });

  test('neither settings nor statements stay behind in sessions of others', async () => {
    const locks = bed.locks(pooler);
    await locks.mutex('x').run(() => {});
    const pools = await pooler.query('show pools');
    expect(pools).toContainEqual(
      expect.objectContaining({ database: 'postgres', pool_mode: mode }),
    );
    for (let n = 0; n < 6; n++) {
      const rows = await bed.query(
        pooler,
        `SELECT current_setting('lock_timeout') AS "lock", current_setting('statement_timeout')
           AS "statement", (SELECT count(*)::int FROM pg_prepared_statements) AS prepared`,
      );
      expect(rows).toEqual([{ lock: '0', statement: '0', prepared: 0 }]);
    }
  });

  test('a pooler that is killed and comes back is no loss', async () => {
    const locks = bed.locks(pooler, {}, 6000);
    const lease = await locks.mutex(`${mode} killed`).acquire();
    await pooler.restart();
    // A heartbeat may have begun to connect while the pooler was away.
    await until('was confirmed', () => lease.renew().then(() => true));
    expect(lease.state).toBe('held');
    await lease.release();
  });
});

const pooler = bed.serve(await startPgbouncer(server, { mode: 'transaction' }));

/** Eight of the longest pauses of who comes next; the holder does not leave before the first. */
const SOON_MS = paced(2000);

test('who comes next looks in time, however long it has waited', async () => {
  const store = bed.store(pooler);
  const [holder, waiter] = [claimOf('in time'), claimOf('in time')];
  await store.claim([holder]);
  let wake: (hint: unknown) => void = () => {};
  const told = new Promise<unknown>((resolve) => (wake = resolve));
  await store.watch?.(waiter, (hint) => wake(hint));
  await store.claim([waiter]);
  // An eighth of it, of which the pause is made, would be more than a look is allowed to wait.
  await sleep(2 * SOON_MS);
  await store.release([holder]);
  const late = sleep(SOON_MS).then(() => 'late');
  expect(await Promise.race([told, late])).toMatchObject({ state: 'held' });
  await store.release([waiter]);
});

test('a downgrade and an eviction are found by a look', async () => {
  const store = bed.store(pooler);
  const side = (kind: 'read' | 'write'): Claim =>
    claimOf('found', { kind, permits: kind === 'read' ? 1 : MAX_PERMITS, limit: MAX_PERMITS });
  const [holder, reader, writer] = [side('write'), side('read'), side('write')];
  const told = new Map<Claim, (ClaimStatus | undefined)[]>();
  for (const claim of [holder, reader, writer]) {
    told.set(claim, []);
    await store.watch?.(claim, (hint) => told.get(claim)?.push(hint));
    await store.claim([claim]);
  }
  await store.downgrade?.(holder);
  await until('was the reader told', async () => told.get(reader)?.at(-1)?.state === 'held');
  const [{ number } = { number: 0n }] = (await store.inspect('found')).waiters;
  expect(await store.evict?.('found', number, { reason: 'test', now: true })).toBe(true);
  // Woken without a word, it asks why.
  await until('was the writer woken', async () => told.get(writer)?.includes(undefined) ?? false);
  expect(await store.renew([writer])).toMatchObject([{ state: 'gone', why: 'evicted' }]);
  await store.release([holder, reader]);
});

test('those who hear are told by those who do not', async () => {
  const [direct, pooled] = [bed.store(server), bed.store(pooler)];
  const [holder, waiter] = [claimOf('both'), claimOf('both')];
  await pooled.claim([holder]);
  const hints: unknown[] = [];
  await direct.watch?.(waiter, (hint) => hints.push(hint));
  await direct.claim([waiter]);
  await pooled.release([holder]);
  await until('told', async () => hints.length > 0);
  // Who does not listen has no tag, by which a message could prove that it has left: one asks.
  expect(hints[0]).toBeUndefined();
  // And the other way round, where it is looked for.
  const next = claimOf('both');
  const looked: unknown[] = [];
  await pooled.watch?.(next, (hint) => looked.push(hint));
  expect((await pooled.claim([next]))[0]?.state).toBe('waiting');
  await direct.release([waiter]);
  await until('told', async () => looked.length > 0);
  expect(looked[0]).toMatchObject({ state: 'held' });
});
