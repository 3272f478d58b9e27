/** Bun's own client, whose errors and counts are its own: on each database. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { rowLock } from 'holdfast/sql';
import { describe, expect, test } from 'vitest';
import { fetchTools } from '../../scripts/package/tools.ts';
import { PRODUCTS, useClient, useServer } from './bed.ts';

const PROGRAM = join(import.meta.dirname, 'children/bun.ts');
const { runtimes } = await fetchTools();
const [bun = '', ...options] = runtimes.find(({ kind }) => kind === 'bun')?.run ?? [];

describe.each(PRODUCTS)('$name', (product) => {
  const server = useServer(product);
  const client = useClient(product.plain, server);

  test("a transaction of Bun's is taken as it is", async () => {
    for (const id of ['a', 'b']) {
      await client.transaction((tx) => rowLock(tx, { table: 'stock', key: { id } }));
    }
    const { stdout } = await promisify(execFile)(bun, [...options, PROGRAM, server.url]);
    const late = { code: 'TRANSACTION', reason: 'lock-timeout', retryable: true };
    expect(JSON.parse(stdout)).toEqual({
      ...{ locked: 10, nowait: late, soon: late, skip: null },
      named: product.name === 'PostgreSQL' || { code: 'UNSUPPORTED', retryable: false },
      deadlock: expect.arrayContaining([
        null,
        { code: 'TRANSACTION', reason: 'deadlock', retryable: true },
      ]),
      ...{ changed: [true, false], optimistic: true },
      pool: { code: 'USAGE', retryable: false },
    });
  });
});
