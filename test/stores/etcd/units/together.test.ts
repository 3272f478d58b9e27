import { expect, it } from 'vitest';
import { Answer } from '../../../../src/base/answer.ts';
import type { Claim } from '../../../../src/contract/store.ts';
import { inWaves } from '../../../../src/stores/etcd/together.ts';
import { claimOf } from '../../../methods/faults/bed.ts';

it('no part has two claims of a resource, and each claim gets its own reply', async () => {
  const claims = ['a', 'b', 'a', 'c', 'a'].map((name) => claimOf(name));
  const parts: string[] = [];
  const step = (wave: readonly Claim[]): Answer<string[]> => {
    parts.push(wave.map(({ resource }) => resource).join(''));
    return Answer.of(() => wave.map(({ id }) => id));
  };
  expect(await inWaves(claims, step)).toEqual(claims.map(({ id }) => id));
  expect(parts).toEqual(['abc', 'a', 'a']);
});

it('no part follows one that failed', async () => {
  let parts = 0;
  const failing = (): Answer<string[]> => {
    parts += 1;
    return Answer.of((): string[] => {
      throw new Error('broken');
    });
  };
  await expect(inWaves([claimOf('a'), claimOf('a')], failing)).rejects.toThrow('broken');
  expect(parts).toBe(1);
});
