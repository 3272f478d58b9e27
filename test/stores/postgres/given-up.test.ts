/** The server waits longer than the store does: what is given up does not pile up there. */
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { connectLike } from '../../../src/stores/postgres/client.ts';
import { sourceOf } from '../../../src/stores/postgres/source.ts';
import { Warnings } from '../../../src/stores/sql/warnings.ts';
import type { Routine, Source, Wire } from '../../../src/stores/sql/wire.ts';
import type { PostgresServer } from '../../servers/postgres-server.ts';
import { until } from '../../servers/until.ts';
import { Bed, CLIENTS, clientOf, failureOf } from './bed.ts';

const ID = '0'.repeat(32);
const PATIENT = '60000';
const settings = { maxTtl: 30_000, maxWaiters: 9, trust: false, fast: false, wake: 'holdfast_' };
const SETTINGS = JSON.stringify({ ...settings, patience: 1000 });
const PLAIN = [SETTINGS, '1000', '30000', 'false', 'a', ID];
const CLAIM = JSON.stringify([
  {
    ...{ resource: 'a', id: ID, kind: 'm', permits: 1, limit: 1, ttl: 30_000, queue: true },
    ...{ address: '-', tag: '-', holder: '{}', unanswered: false, after: 0 },
  },
]);
const CALLS: Readonly<Record<Routine, readonly string[]>> = {
  claim: [SETTINGS, CLAIM],
  claim_one: [...PLAIN, 'm', '1', '1', '30000', 'true', '-', '-', '{}'],
  renew: [SETTINGS, CLAIM],
  release: [SETTINGS, CLAIM],
  release_one: [...PLAIN, '30000'],
  change: [SETTINGS, JSON.stringify({ verb: 'downgrade', resource: 'a', id: ID })],
  keep: [SETTINGS, 'a', ID, 'text', PATIENT],
  recall: ['a'],
  inspect: [SETTINGS, 'a'],
  names: ['', '10'],
  look: [JSON.stringify([ID])],
  sweep: [],
};

const bed = new Bed();
let server: PostgresServer;
beforeAll(async () => {
  server = await bed.server();
});
afterAll(() => bed[Symbol.asyncDispose]());

async function lockAll(): Promise<{ close(): Promise<void> }> {
  const client = new Client({ connectionString: server.url });
  await client.connect();
  await client.query('BEGIN');
  for (const table of ['store', 'witness', 'resource', 'claim', 'grave', 'kept']) {
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
  const sourceAt = ({ url }: PostgresServer): Source =>
    sourceOf(connectLike(clientOf(name, url)), {
      ...{ schema: 'holdfast', fast: false, warnings: new Warnings() },
    });
  const open = (source: Source): Promise<Wire> => {
    const opening = source.open({ signal: new AbortController().signal, lost, heard: lost });
    return opening.then((wire) => bed.use(wire));
  };

  // As VACUUM FULL and ALTER TABLE do.
  test('every call ends where tables are locked, on the server as well', async () => {
    const source = sourceAt(server);
    const routines = Object.keys(CALLS) as Routine[];
    const wires = await Promise.all(routines.map(() => open(source)));
    const other = await lockAll();
    const calls = routines.map((routine, n) => wires[n]?.call(routine, CALLS[routine]));
    const outcomes = await Promise.allSettled([...calls, open(source)]);
    for (const [n, outcome] of outcomes.entries()) {
      const error = outcome.status === 'rejected' ? outcome.reason : undefined;
      expect(source.judge(error, 'call').blocked, routines[n] ?? 'open').toBe(true);
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
    await (await open(source)).call('claim_one', CALLS.claim_one);
    await primary.query("ALTER SYSTEM SET synchronous_standby_names = '*'");
    await primary.query('SELECT pg_reload_conf()');
    await until('was the standby waited for', async () => {
      const [row] = await primary.query('SELECT sync_state FROM pg_stat_replication');
      return row?.sync_state === 'sync';
    });
    standby.pause();
    for (let n = 1; n <= 4; n++) {
      const wire = await open(source);
      const args = CALLS.claim_one.with(4, `${n}`).with(5, `${n}`.repeat(32));
      const asked = failureOf(wire.call('claim_one', args));
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
