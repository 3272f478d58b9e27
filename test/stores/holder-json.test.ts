import { expect, it } from 'vitest';
import { holderJson } from '../../src/stores/redis/redis-store.ts';

it('has all of the holder, whichever came before', () => {
  const holder = { host: 'a "host"', pid: 1, since: 1 };
  const labelled = { ...holder, label: 'nightly', since: 2 };
  for (const each of [
    ...[holder, { ...holder, since: 2 }, labelled, { ...labelled, since: 3 }, holder],
    ...[{ ...holder, pid: 2 }, { ...labelled, mark: 'candidate' }, labelled],
    ...[
      { ...labelled, label: '' },
      { ...labelled, host: 'b' },
    ],
  ]) {
    expect(JSON.parse(holderJson(each))).toEqual(each);
  }
});
