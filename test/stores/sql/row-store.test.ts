/** Which statements a store in a database sends, and until when. */
import { expect, test } from 'vitest';
import { Answer } from '../../../src/base/answer.ts';
import type { CallTerms, SqlLink } from '../../../src/stores/sql/link.ts';
import { SqlRowStore } from '../../../src/stores/sql/row-store.ts';
import { Table } from '../../../src/stores/sql/table.ts';
import { claimOf } from '../../methods/faults/bed.ts';
import { FakeClock } from '../../support/fake-clock.ts';

const PARTS = { name: 'rows', lineage: 'rows:1', maxTtlMs: 30_000, maxWaiters: 10, trust: false };

type Call = (statement: string, args: readonly string[], terms: CallTerms) => readonly string[];

function storeOn(replyTo: Call, clock = new FakeClock()): SqlRowStore {
  const call: SqlLink['call'] = (...asked) => Answer.of(() => replyTo(...asked));
  const link = { call } as SqlLink;
  const parts = { link, channel: 'rows_', maxTtlMs: 30_000, fast: false, listOf: JSON.stringify };
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
