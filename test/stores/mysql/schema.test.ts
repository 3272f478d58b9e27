/** What the statements promise, whatever else goes on in the database. */
import { describe, expect, test } from 'vitest';
import { refusal } from '../../methods/faults/sql-calls.ts';
import { paced } from '../../support/this-run.ts';
import { until } from '../../support/until.ts';
import { rowCases } from '../sql/row-cases.ts';
import { asked, numberOf, worldOf } from './caller.ts';
import { PRODUCTS, rootOn } from './fault-bed.ts';
import { waitsAtGate } from './waiting.ts';

/** A claim on this lock, as the statement takes it; the tag has the address of its process. */
function take(name: string, id: string, tag = '- -'): string[] {
  const terms = [name, id, 'm', '1', '1', '30000', '{}', tag, 'true', '1'];
  return [...terms.map((word) => JSON.stringify([word])), 'f', '30000000', 'false', '100'];
}

describe.each(PRODUCTS)('%s', async (_, start) => {
  const server = await start();
  const world = await worldOf(server);

  const caller = () => world.caller();

  /** A session past the store, in a transaction with this statement, until it is rolled back. */
  async function hold(statement: string): Promise<() => Promise<void>> {
    const connection = await rootOn(server);
    await connection.query('start transaction');
    await connection.query(statement);
    return async () => connection.destroy();
  }
  const lockRow = (name: string): Promise<() => Promise<void>> =>
    hold(`select name from holdfast_lock where name = '${name}' for update`);

  rowCases({
    tables: { lock: 'holdfast_lock', store: 'holdfast_store', kept: 'holdfast_kept' },
    caller,
    know: (columns) => server.query(`update holdfast_store set ${columns}`),
    query: (sql) => server.query(sql),
    hold,
    sweep: (idleMs) => world.sweep(idleMs),
  });

  test('a grant is nobody else’s before it is committed, and nobody’s if it is not', async () => {
    const [{ wire, connection }, two] = [await world.session(), caller()];
    await connection.query('START TRANSACTION');
    expect(await wire.call('take', take('uncommitted', 'b'.repeat(32)))).toHaveLength(1);
    // It waits for the row for a sixth of its ttl.
    const other = asked('uncommitted', { queue: false, ttlMs: paced(600) });
    await expect(two.claim([other])).rejects.toMatchObject({ code: 'STORE', outcome: 'failed' });
    await connection.query('ROLLBACK');
    numberOf((await two.claim([other]))[0]);
  });

  test('a batch does at once what needs no queue, and waits for no row', async () => {
    const [{ wire }, two] = [await world.session(), caller()];
    const { locked, waited, own, ...free } = Object.fromEntries(
      ['free', 'new', 'locked', 'waited', 'own'].map((word) => [word, asked(`batch ${word}`)]),
    ) as Record<string, ReturnType<typeof asked>>;
    const all = [...Object.values(free), locked!, waited!, own!];
    await two.release(await two.claim([free.free!]).then(() => [free.free!]));
    const behind = asked('batch waited');
    for (const claim of [locked!, waited!, behind, own!]) await two.claim([claim]);
    const unlock = await lockRow('batch locked');
    const ask = async (verb: string, claims: typeof all, ...more: string[]): Promise<string[]> => {
      const lists = [
        claims.map(({ resource }) => resource),
        claims.map(({ id }) => id),
        ...(verb === 'take_all' ? ['m', 1, 1] : []).map((word) => claims.map(() => word)),
        ...(verb === 'leave_all' ? [] : [claims.map(({ ttlMs }) => ttlMs)]),
        ...(verb === 'take_all' ? ['{}', '- -', true, 1] : []).map((word) =>
          claims.map(() => word),
        ),
      ];
      return [...(await wire.call(verb, [...lists.map((list) => JSON.stringify(list)), ...more]))];
    };
    const took = await ask('take_all', all, 'f', '30000000', 'false', '100');
    // The claims that held before were not renewed, so nothing is said of them.
    expect(took.map((line) => line.replace(/ \d{16} /, ' N ')).sort()).toEqual(
      Object.values(free)
        .map(({ id, resource }) => `${id} N 0 0 - 0 ${resource}`)
        .sort(),
    );
    const strangers = [asked('batch free'), asked('batch never')];
    const beats = await ask('beat', [...all, ...strangers]);
    const line = ({ id }: { id: string }): unknown =>
      expect.stringMatching(`^${id} \\d+ [01] - 0$`);
    const alive = [...Object.values(free), waited!, own!];
    expect(beats.toSorted()).toEqual(alive.toSorted((a, b) => (a.id < b.id ? -1 : 1)).map(line));
    // Only the queue can tell the next one.
    const gone = [...Object.values(free), own!].map(({ id }) => id).sort();
    expect((await ask('leave_all', [...all, ...strangers])).sort()).toEqual(gone);
    expect(await ask('leave_all', all)).toEqual([]);
    await unlock();
    expect(await two.release(all)).toEqual(
      all.map((claim) => String(+[locked, waited].includes(claim))),
    );
    numberOf((await two.renew([behind]))[0]);
  });

  test('the time that a statement waits for its row counts', async () => {
    const [{ wire, connection }, two] = [await world.session(), caller()];
    // As long as the busiest machine takes, not the second for which programs wait.
    await connection.query('SET SESSION innodb_lock_wait_timeout = 300');
    await two.claim([asked('late', { ttlMs: paced(600) })]);
    const unlock = await lockRow('late');
    const waiting = wire.call('take', take('late', 'c'.repeat(32)));
    // The hold ends meanwhile.
    await new Promise((resolve) => setTimeout(resolve, paced(700)));
    await unlock();
    // Only the queue can clear away who is dead.
    expect(await waiting).toEqual([]);
  });

  test('who waits for a row holds up nobody else, not for long, and not again soon', async () => {
    const [{ wire }, two] = [await world.session(), caller()];
    const stuck = asked('stuck');
    await two.claim([stuck]);
    const unlock = await lockRow('stuck');
    const waiting = refusal(wire.call('leave', ['stuck', stuck.id]));
    numberOf((await two.claim([asked('not stuck')]))[0]);
    expect(await waiting).toBe(1205);
    // Now it leaves the row to what does not wait.
    expect(await wire.call('leave', ['stuck', stuck.id])).toEqual([]);
    await unlock();
    numberOf((await two.renew([stuck]))[0]);
  });

  test('a session that takes its name while a release commits is interrupted', async () => {
    const { wire, connection } = await world.session();
    const { execute, query } = connection;
    const [holder, waiter, address] = ['d'.repeat(32), 'e'.repeat(32), 'f'.repeat(16)];
    await wire.call('take', take('deaf', holder));
    await wire.call('take', take('deaf', waiter, `${address} 1`));
    await query("DO GET_LOCK('gate', 0)");
    const listener = await rootOn(server);
    let interrupted: Promise<unknown> | undefined;
    connection.execute = async (text, values) => {
      const rows = await execute(text, values);
      // The release is committed, and the store has not read the reply.
      await listener.query(`DO GET_LOCK('holdfast_${address}', 0)`);
      interrupted = refusal(listener.query("SELECT GET_LOCK('gate', 60)"));
      await until('did it wait', () => waitsAtGate(server, listener.threadId));
      return rows;
    };
    const asked: string[] = [];
    connection.query = (text) => {
      asked.push(text);
      return query(text);
    };
    expect(await wire.call('leave', ['deaf', holder])).toEqual([holder]);
    // The store looks for the session before the first, and interrupts it before the second.
    await wire.ping();
    await wire.ping();
    expect(asked.filter((text) => text.startsWith('KILL QUERY'))).toHaveLength(1);
    // Nothing else opens the gate.
    await interrupted;
    listener.destroy();
  });

  test('a row that is made while others are being locked is not read', async () => {
    const [{ wire, connection }, two] = [await world.session(), caller()];
    const { query } = connection;
    await two.claim([asked('made first')]);
    connection.query = async (text) => {
      const [lock = '', read] = text.split(/(?<=NOWAIT);/);
      const rows = await query(lock);
      if (read === undefined) return rows;
      await two.claim([asked('made late')]);
      return [...rows, ...(await query(read))];
    };
    const names = JSON.stringify(['made first', 'made late']);
    const lines = await wire.call('lock', [names]);
    await wire.call('rollback', []);
    expect(lines.map((line) => (JSON.parse(line) as unknown[])[3])).toEqual([null]);
  });

  test('a heartbeat waits for no row', async () => {
    const [{ wire }, two] = [await world.session(), caller()];
    const claim = asked('beats');
    await two.claim([claim]);
    const unlock = await lockRow('beats');
    const beat = ['beats', claim.id, '30000'].map((word) => JSON.stringify([word]));
    const times: number[] = [];
    for (let i = 0; i < 5; i++) {
      const since = performance.now();
      // MariaDB says the one, MySQL the other.
      expect([1205, 3572]).toContain(await refusal(wire.call('beat', beat)));
      times.push(performance.now() - since);
    }
    // Who waits does so for a second; a busy machine makes one late, and hardly all.
    expect(Math.min(...times)).toBeLessThan(800);
    await unlock();
    await until('was the row free', async () => {
      return wire.call('beat', beat).then(
        ({ length }) => length === 1,
        () => false,
      );
    });
  });

  test('a write on a row that has moved changes nothing, and tells nobody', async () => {
    const [{ wire }, other] = [await world.session(), caller()];
    const claim = asked('moved');
    await other.claim([claim]);
    const [line = ''] = await wire.call('read', [JSON.stringify(['moved'])]);
    const [, , , name, rev, last] = JSON.parse(line) as [0, 0, 0, string, number, number];
    await other.renew([claim]);
    const write = { name, rev, last, until: 0, waiters: 0, crowd: '' };
    const news = [{ name, address: 'moved', message: '1 ?' }];
    const args = [[write], news].map((each) => JSON.stringify(each));
    for (const verb of ['write', 'write_all']) expect(await wire.call(verb, args)).toEqual([]);
    numberOf((await other.renew([claim]))[0]);
    const told = "select message from holdfast_news where address = 'moved'";
    expect(await server.query(told)).toEqual([]);
  });

  test('a row that was made meanwhile is not made again', async () => {
    const [{ wire }, other] = [await world.session(), caller()];
    const claim = asked('made meanwhile');
    await other.claim([claim]);
    const write = { name: claim.resource, rev: 0, last: 1, until: 0, waiters: 0, crowd: '' };
    expect(await wire.call('write', [JSON.stringify([write]), '[]'])).toEqual([]);
    numberOf((await other.renew([claim]))[0]);
  });

  test('numbers are above all that were swept away, although the clock goes back', async () => {
    const one = caller();
    // As if it had said so two hours from now.
    const highest = (Date.now() + 7_200_000) * 1000;
    await server.query(`update holdfast_store set highest = ${highest}`);
    const alone = await one.claim([asked('above')]);
    const together = await one.claim([asked('above too'), asked('another above')]);
    const half = { kind: 'permits', permits: 1, limit: 2 } as const;
    const byTheQueue = await one.claim([asked('all above', half), asked('all above', half)]);
    for (const number of [...alone, ...together, ...byTheQueue].map(numberOf)) {
      expect(number).toBeGreaterThan(BigInt(highest));
    }
    await server.query('update holdfast_store set highest = 0');
  });
});
