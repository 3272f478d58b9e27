/** The server waits longer than the store does: what is given up does not pile up there. */
import { describe, expect, test } from 'vitest';
import { connectLike } from '../../../src/clients/postgres/client.ts';
import { isBlocked } from '../../../src/clients/sql/judge.ts';
import { Warnings } from '../../../src/clients/warnings.ts';
import { arrayOf } from '../../../src/stores/postgres/fragments.ts';
import { sourceOf } from '../../../src/stores/postgres/source.ts';
import { statementsOf } from '../../../src/stores/postgres/statements.ts';
import type { SqlSource, SqlWire } from '../../../src/stores/sql/link.ts';
import type { PostgresServer } from '../../servers/postgres-server.ts';
import { until } from '../../support/until.ts';
import { Bed, CLIENTS, clientOf, failureOf, sessionOn, sharedServer } from './bed.ts';

const ID = '0'.repeat(32);
const takeOf = (name: string, id: string): string[] => [
  ...[name, id, 'm', '1', '1', '30000', '{}', '- -', 'true', '1'].map((word) => arrayOf([word])),
  ...['f', '30000000', 'false', '9'],
];
const ROW = { name: 'a', rev: 0, last: 1, until: 0, waiters: 0, crowd: '' };
const FREE = ['a', ID, 'm', '1', '1', '30000', '{}', '- -', '30000000', 'false'];
const CALLS = {
  take_free: FREE,
  take_again: FREE,
  take: takeOf('a', ID),
  take_all: takeOf('a', ID),
  beat: [arrayOf(['a']), arrayOf([ID]), arrayOf([30_000])],
  leave_free: ['a', ID],
  leave: ['a', ID, ''],
  leave_all: [arrayOf(['a']), arrayOf([ID])],
  read: [arrayOf(['a']), '30000000', 'false'],
  write: [JSON.stringify([ROW]), '[]'],
  write_all: [JSON.stringify([ROW]), '[]'],
  lock: [arrayOf(['a']), '30000000', 'false'],
  write_locked: [JSON.stringify([ROW]), '[]'],
  rollback: [],
  keep: ['a', ID, '0', 'text', '60000'],
  recall: ['a'],
  names: ['', '10'],
  raise_highest: ['600000000'],
  sweep: ['', '500', '600000000'],
  settle: [],
};

const { bed, server } = await sharedServer();

async function lockAll(): Promise<{ close(): Promise<void> }> {
  const client = await sessionOn(bed, server);
  await client.query('BEGIN');
  for (const table of ['store', 'witness', 'lock', 'kept']) {
    await client.query(`LOCK TABLE holdfast.${table} IN ACCESS EXCLUSIVE MODE`);
  }
  return { close: () => client.end() };
}

async function waiting(at: PostgresServer, what: string): Promise<number> {
  const [row] = await at.query<{ n: number }>(`SELECT count(*)::int AS n FROM pg_stat_activity
    WHERE application_name = 'holdfast' AND wait_event_type || wait_event ~ '${what}'`);
  return row?.n ?? 0;
}

describe.each(CLIENTS)('%s', (name) => {
  const lost = (): void => {};
  const sourceAt = ({ url }: PostgresServer): SqlSource =>
    sourceOf(connectLike(clientOf(name, url)), {
      ...{ schema: 'holdfast', maxTtlMs: 30_000, fast: false, warnings: new Warnings() },
    });
  const open = (source: SqlSource): Promise<SqlWire> => {
    const opening = source.open({ signal: new AbortController().signal, lost, received: lost });
    return opening.then((wire) => bed.use(wire));
  };

  // As VACUUM FULL and ALTER TABLE do.
  test('every call ends where tables are locked, on the server as well', async () => {
    const source = sourceAt(server);
    const all = Object.keys(CALLS) as (keyof typeof CALLS)[];
    expect(all).toEqual([...Object.keys(statementsOf('holdfast')), 'settle']);
    const routines = all.filter((name) => name !== 'rollback');
    const wires = await Promise.all(routines.map(() => open(source)));
    const other = await lockAll();
    const calls = routines.map((routine, n) => wires[n]?.call(routine, CALLS[routine]));
    const outcomes = await Promise.allSettled([...calls, open(source)]);
    for (const [n, outcome] of outcomes.entries()) {
      const error = outcome.status === 'rejected' ? outcome.reason : undefined;
      const judged = source.judge(error, 'call').error;
      expect(isBlocked(judged), routines[n] ?? 'open').toBe(true);
    }
    // The tables are locked still.
    expect(await waiting(server, 'Lock')).toBe(0);
    await other.close();
  });

  test('few sessions wait for a standby, and all is well when it is back', async () => {
    await using own = new Bed();
    const primary = await own.server();
    const standby = own.serve(await primary.standby());
    await standby.inStep();
    const source = sourceAt(primary);
    await (await open(source)).call('take', CALLS.take);
    await primary.query("ALTER SYSTEM SET synchronous_standby_names = '*'");
    await primary.query('SELECT pg_reload_conf()');
    await until('was the standby waited for', async () => {
      const [row] = await primary.query('SELECT sync_state FROM pg_stat_replication');
      return row?.sync_state === 'sync';
    });
    standby.pause();
    for (let n = 1; n <= 4; n++) {
      const wire = await open(source);
      const asked = failureOf(wire.call('take', takeOf(`${n}`, `${n}`.repeat(32))));
      await until('did it wait', async () => (await waiting(primary, 'SyncRep')) === n);
      wire.close();
      await asked;
    }
    const refused = { code: 'STORE', retryable: true, outcome: 'failed' };
    expect(await failureOf(open(source))).toMatchObject({
      ...{ ...refused, message: expect.stringMatching(/4 sessions that were given up/) },
    });
    standby.resume();
    await until('was it open again', () => open(source).then(() => true));
  });
});
