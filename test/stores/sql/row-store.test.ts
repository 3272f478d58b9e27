/** Which statements a store in a database sends, and until when. */
import { describe, expect, test } from 'vitest';
import { Answer } from '../../../src/base/answer.ts';
import { temporaryFailure } from '../../../src/contract/errors.ts';
import type { CallTerms, SqlLink } from '../../../src/stores/sql/link.ts';
import { columnsOf, crowdOf } from '../../../src/stores/sql/row.ts';
import { SqlRowStore } from '../../../src/stores/sql/row-store.ts';
import { Table } from '../../../src/stores/sql/table.ts';
import { claimOf } from '../../methods/faults/bed.ts';
import { FakeClock } from '../../support/fake-clock.ts';
import { listed } from '../../support/listed.ts';
import { blocked } from './blocked.ts';

const ID = 'a'.repeat(32);
const PARTS = { name: 'rows', lineage: 'rows:1', maxTtlMs: 30_000, maxWaiters: 10, trust: false };

type Call = (statement: string, args: readonly string[], terms: CallTerms) => readonly string[];

function storeOn(replyTo: Call, clock = new FakeClock()): SqlRowStore {
  const call: SqlLink['call'] = (...asked) => Answer.of(() => replyTo(...asked));
  const link = { call } as SqlLink;
  const parts = { link, maxTtlMs: 30_000, fast: false, listOf: JSON.stringify };
  return new SqlRowStore({ ...PARTS, table: new Table(parts), clock });
}

// Here the rows are never to be had. What is sent later could come after the tombstone of the
// claim's release.
test('all statements of a claim are sent within its ttl', async () => {
  const clock = new FakeClock();
  const sent: (readonly [string, number | undefined])[] = [];
  const call: Call = (statement, _, { withinMs }) => {
    sent.push([statement, withinMs]);
    clock.stall(100);
    return [];
  };
  const store = storeOn(call, clock);
  await expect(store.claim([claimOf('a', { ttlMs: 600 })])).rejects.toThrow('The database forgets');
  expect(sent.slice(0, 3)).toEqual([
    ['take_free', 600],
    ['take', 500],
    ['read', 400],
  ]);
});

test('the looks of one turn are one statement', async () => {
  const sent: string[] = [];
  const store = storeOn((statement, [names]) => {
    sent.push(`${statement} ${names}`);
    // The time, and no row.
    return ['[1,0,0,null,0]'];
  });
  const queues = await Promise.all(['a', 'b', 'c'].map((name) => store.inspect(name)));
  expect(queues).toMatchObject([{ resource: 'a' }, { resource: 'b' }, { resource: 'c' }]);
  expect(sent).toEqual(['read ["a","b","c"]']);
});

test('a list begins at its prefix, and each page right behind the one before', async () => {
  const crowd = crowdOf(undefined, { openAt: 0 });
  crowd.queue.enter(claimOf('any', { id: ID }), 0, { number: 1n, maxWaiters: 10 });
  const columns = Object.values(columnsOf(crowd, 0));
  const all = Array.from({ length: 1000 }, (_, n) => `p${n}`);
  const stored = ['o', 'p', ...all, 'q'].sort();
  const from: string[] = [];
  const store = storeOn((_, [least = '', most]) => {
    from.push(least);
    const page = stored.filter((name) => name >= least).slice(0, Number(most));
    return page.map((name) => JSON.stringify([1, 0, 0, name, 1, ...columns]));
  });
  expect(await listed(store.list('p'))).toEqual(stored.slice(1, -1));
  expect(from).toHaveLength(3);
  expect(from[0]).toBe('p');
});

describe('a free lock', () => {
  /** Where rows are free, or not; a claim tells its status, and which statements it took. */
  function scene() {
    const sent: string[] = [];
    const rows = { free: true };
    const store = storeOn((statement, [names = '']) => {
      sent.push(statement);
      if (statement.startsWith('take_')) return rows.free ? ['7'] : [];
      // It takes what the others may not: none waits, and the name comes last.
      return [`${ID} 8 0 0 - 0 ${JSON.parse(names)[0]}`];
    });
    const claim = async (name: string): Promise<readonly [unknown, string]> => {
      sent.length = 0;
      const [status] = await store.claim([claimOf(name, { id: ID })]);
      return [status, sent.join()];
    };
    return { rows, claim };
  }

  test('is taken by an update once this process has taken its row', async () => {
    const { claim } = scene();
    const held = { state: 'held', token: 7n, waiters: 0 };
    expect(await claim('a')).toMatchObject([held, 'take_free']);
    expect(await claim('a')).toMatchObject([held, 'take_again']);
    expect((await claim('b'))[1]).toBe('take_free');
  });

  test('whose row is gone costs one update in vain', async () => {
    const { rows, claim } = scene();
    await claim('a');
    rows.free = false;
    expect(await claim('a')).toMatchObject([{ state: 'held', token: 8n }, 'take_again,take']);
    rows.free = true;
    expect((await claim('a'))[1]).toBe('take_free');
    expect((await claim('a'))[1]).toBe('take_again');
  });

  test('whose row others keep is asked for in line; other failures are its own', async () => {
    let failure: Error = blocked();
    const store = storeOn((statement, [names = '']) => {
      if (statement === 'take_free') throw failure;
      return [`${ID} 8 0 0 - 0 ${JSON.parse(names)[0]}`];
    });
    const claims = [claimOf('a', { id: ID })];
    expect(await store.claim(claims)).toMatchObject([{ state: 'held', token: 8n }]);
    failure = temporaryFailure('The server stops.');
    await expect(store.claim(claims)).rejects.toBe(failure);
  });

  test('of a name that is new costs one statement, however many there were', async () => {
    const { claim } = scene();
    const all = new Set<string>();
    for (let n = 0; n < 3000; n++) all.add((await claim(`name ${n}`))[1]);
    expect([...all]).toEqual(['take_free']);
    // The last ones are known.
    expect((await claim('name 2999'))[1]).toBe('take_again');
  });
});
