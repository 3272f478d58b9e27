/** Two functions of the caller's, and what they may return. */
import { changeState, type OtherConnection, optimistic, rowLock } from 'holdfast/sql';
import { describe, expect, it } from 'vitest';
import { tableDocuments } from '../../src/stores/table/documents.ts';

type Answers = { readonly rows?: unknown; readonly count?: unknown };

/** Answers alike to each statement, and notes what it was asked. */
function twoFunctions(answers: Answers, place: Partial<OtherConnection> = {}) {
  const asked: string[] = [];
  const note = (what: string, sql: string): void => {
    asked.push(`${what} ${sql.replace(/\s+/g, ' ')}`);
  };
  const db: OtherConnection = {
    ...{ dialect: 'postgres', transaction: false, ...place },
    async rows(sql) {
      note('rows', sql);
      return answers.rows as object[];
    },
    async count(sql) {
      note('count', sql);
      return answers.count as number;
    },
  };
  return { db, asked };
}

const key = { sku: 'a' };
const change = { table: 'stock', key, from: { n: 1 }, to: { n: 0 } };

describe('count', () => {
  it.each([
    ['the list and number of TypeORM', [[], 1]],
    ['an object', { affectedRows: 1 }],
    ['undefined', undefined],
    ['null', null],
    ['a fraction', 0.5],
    ['no number', Number.NaN],
    ['a negative number', -1],
    ['text', 'one'],
    ['a boolean', true],
  ])('is refused if it is %s, before anything is written', async (_name, count) => {
    const { db, asked } = twoFunctions({ count });
    const refused = expect.objectContaining({
      code: 'USAGE',
      message: expect.stringMatching(/count/),
    });
    await expect(changeState(db, change)).rejects.toEqual(refused);
    expect(asked).toEqual([expect.stringMatching(/^count UPDATE .* AND 1 = 0$/)]);
  });

  it.each([1, 1n, '1'])('may be %o', async (count) => {
    const { db, asked } = twoFunctions({ count });
    expect(await changeState(db, change)).toBe(true);
    expect(await changeState(db, change)).toBe(true);
    // The trial comes once.
    expect(asked.length).toBe(3);
  });

  it('is refused before the first INSERT, too', async () => {
    const answers = { rows: [{ commits: 1 }], count: [[], 1] };
    const { db, asked } = twoFunctions(answers, { dialect: 'mysql' });
    const put = tableDocuments(db).put('a', 'text', undefined);
    const message = expect.stringMatching(/count\(\)/);
    await expect(put).rejects.toMatchObject({ code: 'USAGE', message });
    expect(asked.filter((each) => each.startsWith('count'))).toEqual([
      'count UPDATE `holdfast_documents` SET name = name WHERE 1 = 0',
    ]);
  });

  it('is refused in a transaction, which the error ends', async () => {
    const { db } = twoFunctions({ count: [[], 1] }, { transaction: true });
    await expect(changeState(db, change)).rejects.toMatchObject({ code: 'USAGE' });
  });
});

it.each([
  ['the answer of pg', { rows: [] }],
  ['undefined', undefined],
  ['one row', { sku: 'a' }],
])('rows is refused if it is %s', async (_name, rows) => {
  const { db } = twoFunctions({ rows });
  const read = optimistic(db, { table: 'stock', key, version: 'v' }, () => null);
  const refused = { code: 'USAGE', message: expect.stringMatching(/rows\(\)/) };
  await expect(read).rejects.toMatchObject(refused);
});

it('an INSERT on MySQL is counted, for it returns no rows', async () => {
  const place = { dialect: 'mysql', transaction: true } as const;
  const { db, asked } = twoFunctions({ rows: [], count: 1 }, place);
  await rowLock(db, { table: 'stock', key, insert: { n: 1 } }).catch(() => {});
  expect(asked.filter((each) => each.includes('INSERT'))).toEqual([
    expect.stringMatching(/^count INSERT/),
  ]);
});
