/** Names of locks of which nothing but locks may come, also where values are in the text. */
import fc from 'fast-check';
import type { Store } from 'holdfast';
import type { Claim } from 'holdfast/store';
import { expect } from 'vitest';
import { claimOf } from '../../methods/faults/bed.ts';
import { listed } from '../../support/listed.ts';

const FRAGMENTS = [
  ...["'", "''", '"', '\\', "\\'", '\\\\', '$1', '$2', '$$', '$a$', ';', '--', '/*', '*/', '\0'],
  ...["'; DROP SCHEMA holdfast CASCADE; --", "\\'; DELETE FROM holdfast.lock; --", "E'", "U&'"],
  ...["'; DROP TABLE holdfast_lock; #", "' OR '1'='1", '")}', '{', '[', '\\u0000', '\\ud800'],
  ...['\u0001', '\u00010', '\ufeff', '\u2028'],
  ...['😀', 'ﷺ', 'e\u0301', '\u0000\u0000', '%', '_', ':name', '?', '{x}', '`', '\r\n', '\t', ' '],
  ...['0x00', 'NULL', 'pg_sleep(9)', '"holdfast".store', '\u202e', 'a', 'b'],
];

/** The same ones each time: 500 names, each once. */
const names = [
  ...new Set(
    fc
      .sample(fc.array(fc.constantFrom(...FRAGMENTS), { minLength: 1, maxLength: 8 }), {
        ...{ numRuns: 700, seed: 4 },
      })
      .map((parts) => parts.join('')),
  ),
].slice(0, 500);

/** Each is claimed, renewed, listed, shown and released; some are evicted. */
export async function expectOnlyLocks(store: Store, mark: string): Promise<void> {
  expect(names).toHaveLength(500);
  const holderOf = (label: string) => ({ host: label, pid: 1, label, since: 0 });
  const claims: Claim[] = names.map((name) =>
    claimOf(`${mark}${name}`, { holder: holderOf(`${name}x`) }),
  );
  for (let from = 0; from < claims.length; from += 100) {
    const some = claims.slice(from, from + 100);
    const statuses = await store.claim(some);
    expect(statuses.map(({ state }) => state)).toEqual(some.map(() => 'held'));
    expect((await store.renew(some)).map(({ state }) => state)).toEqual(some.map(() => 'held'));
  }
  const given = await listed(store.list?.(mark));
  expect(given.sort()).toEqual(claims.map(({ resource }) => resource).sort());
  for (const { resource, holder } of claims.slice(0, 60)) {
    const { holders } = await store.inspect(resource);
    expect(holders.map((each) => each.holder)).toEqual([holder]);
    const [first] = holders;
    const evicted = { reason: `because ${resource}`, now: true };
    expect(await store.evict?.(resource, first?.number ?? 0n, evicted)).toBe(true);
  }
  for (let from = 0; from < claims.length; from += 100) {
    await store.release(claims.slice(from, from + 100));
  }
  expect(await listed(store.list?.(mark))).toEqual([]);
}
