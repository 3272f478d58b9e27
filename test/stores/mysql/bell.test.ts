/** Whoever has news is rung, all of them and nobody else, and finds them once. */
import type { Store } from 'holdfast';
import type { Claim, ClaimStatus } from 'holdfast/store';
import { createConnection } from 'mysql2/promise';
import { afterAll, describe, expect, test } from 'vitest';
import { claimOf, sleep } from '../../methods/faults/bed.ts';
import { until } from '../../servers/until.ts';
import { Bed, PRODUCTS } from './fault-bed.ts';

interface Seat {
  readonly store: Store;
  readonly claim: Claim;
  /** `?` is news without a status. */
  readonly heard: (ClaimStatus['state'] | '?')[];
}

/** What a session is told by its server unless it says otherwise, at its worst. */
const DEFAULTS = [
  ['of the product', []],
  [
    'without autocommit, SERIALIZABLE',
    ['--autocommit=0', '--transaction-isolation=SERIALIZABLE', '--completion-type=CHAIN'],
  ],
  ['at READ UNCOMMITTED', ['--autocommit=0', '--transaction-isolation=READ-UNCOMMITTED']],
] as const;

const SERVERS = PRODUCTS.flatMap(([product, start]) =>
  DEFAULTS.map(([name, config]) => [product, name, () => start({ config })] as const),
);

describe.each(SERVERS)('%s with defaults %s', async (_product, _name, start) => {
  const server = await start();
  afterAll(() => server.close());

  /** A process with a claim in the queue of this resource. */
  async function seat(bed: Bed, over: Partial<Claim> = {}): Promise<Seat> {
    const store = bed.store(server);
    const claim = claimOf('a', over);
    const heard: Seat['heard'] = [];
    await store.watch?.(claim, (hint) => heard.push(hint?.state ?? '?'));
    await store.claim([claim]);
    return { store, claim, heard };
  }

  test('all that a release lets in are rung, and the next', async () => {
    await using bed = new Bed(server);
    await bed.server();
    const permits = (n: number) => ({ kind: 'permits', permits: n, limit: 3 }) as const;
    const holder = await seat(bed, permits(3));
    const readers = [await seat(bed, permits(1)), await seat(bed, permits(1))];
    const next = await seat(bed, permits(3));
    const last = await seat(bed, permits(1));
    await holder.store.release([holder.claim]);
    for (const reader of readers) await rung(reader, ['held']);
    await rung(next, ['waiting']);
    expect(last.heard).toEqual([]);
  });

  test('the holder is rung when somebody begins to wait, and when it is evicted', async () => {
    await using bed = new Bed(server);
    await bed.server();
    const holder = await seat(bed);
    const waiter = await seat(bed);
    await rung(holder, ['held']);
    const { holders } = await waiter.store.inspect('a');
    const evict = { reason: 'test', now: true };
    expect(await waiter.store.evict?.('a', holders[0]?.number ?? 0n, evict)).toBe(true);
    await rung(holder, ['held', '?']);
    await rung(waiter, ['held']);
  });

  test('news are told once, over the same session', async () => {
    await using bed = new Bed(server);
    await bed.server();
    const holder = await seat(bed);
    const waiter = await seat(bed);
    await rung(holder, ['held']);
    const before = await bed.sessions(server);
    await holder.store.release([holder.claim]);
    await rung(waiter, ['held']);
    // It looks again at once, and found the same if it did not say what it has seen.
    await sleep(300);
    expect([holder.heard, waiter.heard]).toEqual([['held'], ['held']]);
    expect((await bed.sessions(server)).sort()).toEqual(before.sort());
  });

  test('what is not committed is not told, and nothing stays open', async () => {
    await using bed = new Bed(server);
    await bed.server();
    const holder = await seat(bed);
    const waiter = await seat(bed);
    await rung(holder, ['held']);
    const { host, port } = server;
    const other = await createConnection({ host, port, user: 'root', database: 'test' });
    await other.query('start transaction');
    await other.query(`update ${bed.name}claim set admitted = not admitted, news = 1 + news`);
    // It looks by itself each second.
    await sleep(1500);
    await other.query('rollback');
    other.destroy();
    expect([holder.heard, waiter.heard]).toEqual([['held'], []]);
    await until('was no transaction open', async () => {
      return (await server.query('select 1 from information_schema.innodb_trx')).length === 0;
    });
    await holder.store.release([holder.claim]);
    await rung(waiter, ['held']);
  });

  test('news of a commit that took long are heard', async () => {
    await using bed = new Bed(server);
    await bed.server();
    const holder = await seat(bed);
    const waiter = await seat(bed);
    // It has looked since then.
    await rung(holder, ['held']);
    await server.query(`update ${bed.name}claim set news = news - 1000000 where news > 0; commit`);
    const [row] = await server.query<{ address: string }>(
      `select address from ${bed.name}claim where admitted`,
    );
    await server.query(`call ${bed.name}ring('{"wake":"holdfast_"}', '${row?.address} ')`);
    await rung(holder, ['held', 'held']);
    expect(waiter.heard).toEqual([]);
  });
});

/** Given up long after everybody has looked without being rung, too. */
async function rung({ heard }: Seat, expected: Seat['heard']): Promise<void> {
  for (let i = 0; i < 1000 && heard.length < expected.length; i++) await sleep(10);
  expect(heard).toEqual(expected);
}
