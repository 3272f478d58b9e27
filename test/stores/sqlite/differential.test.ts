/** Two programs on one file, whose clock stands still except where a step says so. */
import { test } from 'vitest';
import { thisMachine } from '../../../src/clients/sqlite/machine.ts';
import { differ } from '../../methods/differential/differ.ts';
import { newFile, open } from './bed.ts';

test.each([
  ['whole', 16],
  ['from the first waiter on', 0],
])('queues that are read %s: answers and hints are those of memory', async (_, front) => {
  const file = newFile();
  // No two readings are alike.
  let us = 1_000_000;
  const machine = { ...thisMachine, nowUs: () => ++us };
  await differ({
    // A queue that is bounded this closely is read as far as its bound.
    open: ({ maxWaiters }) =>
      open(file, { machine, maxWaiters, front: maxWaiters < 16 ? 16 : front }),
    pass: (ms) => {
      us += ms * 1000;
    },
    mayAsk: true,
    estimates: 0,
    groups: 3,
  });
});
