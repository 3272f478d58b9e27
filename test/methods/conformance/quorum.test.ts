/** Three and five memories as one: the same promises, but for what quorum does not give. */
import { memoryStore } from 'holdfast/memory';
import { quorum } from 'holdfast/quorum';
import { describe } from 'vitest';
import { turnOf } from '../../support/this-run.ts';
import { simulatedSuite } from './suite.ts';

describe.each(turnOf([3, 5]))('%i members', (count) => {
  simulatedSuite({
    open(clock, options) {
      const members = Array.from({ length: count }, () => memoryStore({ clock, ...options }));
      return {
        connect: () => quorum(members, { clock }),
        forget() {
          for (const each of members) each.forget();
        },
      };
    },
    traits: quorum([memoryStore(), memoryStore(), memoryStore()]).traits,
    lacks: ['claimAll', 'downgrade', 'raise', 'keep', 'recall', 'handOver'],
    forgets: true,
  });
});
