/** What a store makes of deadlocks, of named locks, and of a server that prepares nothing. */
import { createPool } from 'mysql2';
import { afterAll, describe, expect, test } from 'vitest';
import { connectLike } from '../../../src/clients/mysql/client.ts';
import type { ConnectMysql } from '../../../src/clients/mysql/connection.ts';
import type { ClaimStatus } from '../../../src/contract/store.ts';
import { type SourceParts, sourceOf } from '../../../src/stores/mysql/source.ts';
import { claimOf, MAX_TTL_MS, sleep } from '../../methods/faults/bed.ts';
import { until } from '../../support/until.ts';
import { Bed, PRODUCTS, rootOn } from './fault-bed.ts';
import { waitsAtGate, waitsForRow } from './waiting.ts';

const partsOf = ({ name: prefix }: Bed): SourceParts => ({ prefix, maxTtlMs: MAX_TTL_MS });

describe.each(PRODUCTS)('%s', async (_, start) => {
  const server = await start();
  afterAll(() => server.close());

  /** Claims two locks, and loses a deadlock after that time. */
  async function claimInDeadlock(
    bed: Bed,
    { afterMs = 0, ...terms }: { afterMs?: number; ttlMs?: number } = {},
  ): Promise<readonly ClaimStatus[]> {
    const store = bed.store(await bed.server());
    const connection = await rootOn(server);
    bed.use({ close: () => connection.destroy() });
    await connection.query('create table if not exists work (n int)');
    await connection.query('start transaction');
    // Whoever has written less is the one that the server rolls back.
    const rows = Array.from({ length: 1000 }, (_, n) => [n]);
    await connection.query('insert into work values ?', [rows]);
    // A batch waits with rows of its own only where it adds names, and this one is just added.
    const add = `insert into ${bed.name}lock (name, rev, last, until, crowd)
      values ('d', 1, 0, 0, '')`;
    await connection.query(add);
    const claimed = store.claim(['c', 'd'].map((name) => claimOf(name, terms)));
    // Whoever asked for it looks at what becomes of it, a moment later.
    claimed.catch(() => {});
    await until('did it wait', () => waitsForRow(server));
    await sleep(afterMs);
    await connection.query(`select name from ${bed.name}lock where name = 'c' for update`);
    await connection.query('commit');
    return await claimed;
  }

  test('a call that lost a deadlock with somebody else is made again', async () => {
    await using bed = new Bed(server);
    expect(await claimInDeadlock(bed)).toMatchObject([{ state: 'held' }, { state: 'held' }]);
  });

  test('a claim that loses a deadlock late is not made again', async () => {
    await using bed = new Bed(server);
    // More than a quarter of the ttl, and less than the second for which a statement waits.
    const claimed = claimInDeadlock(bed, { afterMs: 200, ttlMs: 600 });
    await expect(claimed).rejects.toThrow('deadlock');
  });

  test('a server that prepares no more statements is asked in others', async () => {
    await using bed = new Bed(server);
    const store = bed.store(await bed.server());
    await server.query('set global max_prepared_stmt_count = 0');
    try {
      const claim = claimOf('a');
      expect(await store.claim([claim])).toMatchObject([{ state: 'held' }]);
      await store.release([claim]);
      expect(await store.inspect?.('a')).toMatchObject({ holders: [] });
    } finally {
      await server.query('set global max_prepared_stmt_count = 16382');
    }
  });

  test('NULL for a named lock is an error, not somebody else who has it', async () => {
    await using bed = new Bed(server);
    const connect = connectLike(bed.clientOf('mysql2', await bed.server()));
    // As the server says when it has no memory, or the wait was killed.
    const nulls: ConnectMysql = async (terms) => {
      const real = await connect(terms);
      const query = (text: string) =>
        real.query(text.replace(/GET_LOCK\(.*\)/, "NULLIF(GET_LOCK('held', 0), 1)"));
      return { ...real, query };
    };
    const { signal } = new AbortController();
    const terms = { signal, lost: () => {}, received: () => {} };
    const wire = await sourceOf(nulls, partsOf(bed)).open(terms);
    bed.use({ close: () => wire.close() });
    await expect(wire.listen?.('holdfast_channel')).rejects.toThrow('GET_LOCK');
  });

  test('news are waited for on the primary, also if a proxy reads from replicas', async () => {
    await using bed = new Bed(server);
    const primary = connectLike(bed.clientOf('mysql2', await bed.server()));
    const { host, port } = bed.use(await start());
    const replica = connectLike(createPool({ host, port, user: 'root' }));
    const proxy: ConnectMysql = async (terms) => {
      const [main, reader] = [await primary(terms), await replica(terms)];
      const isRead = (text: string) => /^SELECT (?!.* (FROM .*|FOR UPDATE)$)/s.test(text);
      return {
        query: (text) => (isRead(text) ? reader : main).query(text),
        execute: (text, values) => main.execute(text, values),
        unref() {
          reader.unref();
          main.unref();
        },
        end() {
          reader.end();
          main.end();
        },
      };
    };
    const lost: unknown[] = [];
    const { signal } = new AbortController();
    const terms = { signal, lost: (error: unknown) => lost.push(error), received: () => {} };
    const wire = await sourceOf(proxy, partsOf(bed)).open(terms);
    bed.use({ close: () => wire.close() });
    await wire.listen?.('holdfast_proxied');
    await until('does it wait', () => waitsAtGate(server));
    expect(lost).toEqual([]);
  });
});
