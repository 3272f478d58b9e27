import { expect, test } from 'vitest';
import { orEmpty } from '../../../src/clients/sqlite/machine.ts';

function refused(code: string): () => string {
  return () => {
    throw Object.assign(new Error('no'), { code });
  };
}

test('a system may have no name for its boot, but a process must be allowed to read it', () => {
  expect(orEmpty(() => 'boot')).toBe('boot');
  expect(orEmpty(refused('ENOENT'))).toBe('');
  expect(() => orEmpty(refused('EACCES'))).toThrow(
    expect.objectContaining({ code: 'STORE', retryable: false, outcome: 'failed' }),
  );
});
