/** Members that have parts, as clusters do. */
import type { Store } from 'holdfast';
import { quorum } from 'holdfast/quorum';
import { expect, it } from 'vitest';
import { claimOf, type Member, type Scene, scene } from './member-stores.ts';

/** The part of `x/1` is `x`. */
function parted(): Scene {
  const { clock, members } = scene();
  const partOf = (resource: string): string => resource.slice(0, resource.indexOf('/'));
  const own = members.slice(0, 2).map((member) => Object.assign(member, { partOf }));
  const all = [...own, members[2] as Member];
  return { clock, members: all, store: quorum(all, { clock }) };
}

const partOf = (store: Store, resource: string): string | undefined => store.partOf?.(resource);

it('a quorum has the parts of all its members together', () => {
  const { store } = parted();
  expect(partOf(store, 'a/1')).toBe(partOf(store, 'a/2'));
  expect(partOf(store, 'a/1')).not.toBe(partOf(store, 'b/1'));
  expect(scene().store.partOf).toBeUndefined();
});

it('each member gets batches that do not cross its parts', async () => {
  const { store, members } = parted();
  const claims = ['a/1', 'b/1', 'a/2'].map((resource) => claimOf({ resource }));
  await Promise.all([store.claim([claims[0]!, claims[2]!]), store.claim([claims[1]!])]);
  const batches = members.map(({ asked }) =>
    asked
      .filter(({ verb }) => verb === 'claim')
      .map((each) => each.claims.map(({ resource }) => resource).join(' ')),
  );
  expect(batches).toEqual([['a/1 a/2', 'b/1'], ['a/1 a/2', 'b/1'], ['a/1 a/2 b/1']]);
});
