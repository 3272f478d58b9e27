import { expect, test } from 'vitest';
import { refuseOwnClock } from '../../src/stores/sqlite/machine.ts';

test.each(['bun', 'deno'])('%s is refused: its processes share no clock', (name) => {
  const versions = { node: '26.3.0', [name]: '1.0.0' };
  expect(() => refuseOwnClock(versions)).toThrow(
    expect.objectContaining({ code: 'STORE', retryable: false, outcome: 'failed' }),
  );
});

test('Node is taken', () => {
  expect(() => refuseOwnClock()).not.toThrow();
});
