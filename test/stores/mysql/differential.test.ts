import { mysqlStore } from 'holdfast/mysql';
import { createPool } from 'mysql2';
import { afterAll, describe, expect, test } from 'vitest';
import type { Store } from '../../../src/contract/store.ts';
import { differ } from '../../methods/differential/differ.ts';
import { MAX_TTL_MS } from '../../methods/differential/steps.ts';
import { PRODUCTS } from './fault-bed.ts';
import { install, step } from './routines.ts';

/** Beyond what a queue that nobody is in is remembered for. */
const LONG_MS = 700_000;

describe.each(PRODUCTS)('%s', (_, start) => {
  const ends: (() => unknown)[] = [];
  afterAll(async () => {
    for (const end of ends.reverse()) await end();
  });

  test('answers and tells as memory does', { timeout: 240_000 }, async () => {
    const server = await start();
    ends.push(() => server.close());
    // It stands still unless it is stepped.
    await install(server, "'2030-01-01'");
    const pass = (ms: number): Promise<void> => step(server, ms);
    const client = createPool(server.url.replace('mariadb:', 'mysql:'));
    await differ({
      open: (options): Store => {
        const trusting = { afterDataLoss: 'trust', maxTtl: MAX_TTL_MS } as const;
        const store = mysqlStore(client, { ...trusting, ...options });
        ends.push(() => store.close?.());
        return store;
      },
      pass,
      groups: 1,
    });
    await pass(LONG_MS);
    // So many as there are, a portion at a time.
    for (let more = true; more; ) {
      const [rows] = (await server.query('call holdfast_sweep()')) as unknown as [unknown];
      more = Array.isArray(rows) && rows.length > 0;
    }
    const left = await server.query(`select (select count(*) from holdfast_resource) as resources,
      (select count(*) from holdfast_claim) as claims,
      (select count(*) from holdfast_grave) as graves`);
    expect(left).toEqual([{ resources: 0, claims: 0, graves: 0 }]);
  });
});
