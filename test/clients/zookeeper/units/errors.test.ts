import { StoreError } from 'holdfast';
import { expect, it } from 'vitest';
import { connectionLoss, refused } from '../../../../src/clients/zookeeper/errors.ts';

it('a failure has the name of the class that users know', () => {
  for (const error of [refused(-102, '/locks'), connectionLoss(new Error('reset'), true)]) {
    expect(error).toBeInstanceOf(StoreError);
    expect(error.name).toBe('StoreError');
    expect(String(error)).toMatch(/^StoreError: /);
  }
});
