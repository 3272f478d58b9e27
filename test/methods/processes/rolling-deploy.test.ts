/** While processes of this version work, others of a later version take over, file and all. */
import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { LAYOUTS } from '../../../src/stores/sqlite/schema.ts';
import { connect } from '../../stores/sqlite/bed.ts';
import { NEXT_LAYOUTS } from '../../stores/sqlite/next-layout.ts';
import { paced } from '../../support/this-run.ts';
import { disorderOf } from '../histories/holds.ts';
import { Child, databaseFile } from './child.ts';
import type { ContenderOptions, Told } from './children/contender.ts';

function start(file: string, options: Partial<ContenderOptions>): Child {
  const defaults = { kind: 'mutex', rounds: 40, ttl: paced(5000), limit: 1, fair: true } as const;
  return new Child('contender', { file, ...defaults, ...options });
}

test('a deploy from one layout to the next, process by process', async () => {
  const file = databaseFile();
  writeFileSync(`${file}.counter`, '0');
  const database = await connect(file);
  const layout = () => database.prepare('SELECT layout FROM holdfast_meta').all();
  // Long enough at it to be overtaken by the deploy.
  const old = [1, 2, 3].map(() => start(file, { rounds: 120 }));
  const later = [1, 2, 3].map(() => start(file, { later: true }));
  const restarted = start(file, {});
  const all = [...old, ...later, restarted];
  await Promise.all(all.map((child) => child.next('ready')));

  for (const child of old) child.tell({ type: 'go' });
  await Promise.all(old.map((child) => child.next('hold')));
  expect(layout()).toMatchObject([{ layout: LAYOUTS.length }]);
  for (const child of later) child.tell({ type: 'go' });
  await Promise.all(later.map((child) => child.next('hold')));
  expect(layout()).toMatchObject([{ layout: NEXT_LAYOUTS.length }]);
  restarted.tell({ type: 'go' });
  await Promise.all(all.map((child) => child.next('done')));

  const holds = all.flatMap((child) => child.heard<Told>('hold'));
  expect(holds.length).toBe(3 * 120 + 4 * 40);
  expect(disorderOf(holds.map(({ record }) => record))).toEqual([]);
  expect(readFileSync(`${file}.counter`, 'utf8')).toBe(String(holds.length));
  // They stood in one queue: old ones were granted the lock after new ones had held it.
  const lastOld = old.map((child) => child.heard<Told>('hold').at(-1)?.record.grantedAt ?? 0);
  const firstNew = later.map((child) => child.heard<Told>('hold')[0]?.record.grantedAt ?? 0);
  expect(Math.min(...firstNew)).toBeLessThan(Math.max(...lastOld));
});
