/** A quorum of memories, each behind a network of its own that delays, copies and overtakes. */
import { memoryStore } from 'holdfast/memory';
import { quorum } from 'holdfast/quorum';
import { answered, chaosStore } from 'holdfast/testkit';
import { describe } from 'vitest';
import { turnOf } from '../../support/this-run.ts';
import { simulatedSuite } from './suite.ts';

/** Hints may be late, but not by more than the suite waits for stragglers. */
const WEATHER = { ...answered, lateMs: [20, 60] } as const;

/** What depends on when a member answers. */
const EXCEPT = [
  {
    names: /^order: order holds between connections/,
    why: 'core asks about a claim through one quorum only',
  },
  {
    names: /^takeover: .*not of older ones/,
    why: 'a member that did not vote for the last hold tells of older',
  },
  { names: /^hints: hints do not give ids away/, why: 'a claim that has left hears no late hints' },
];

describe.each(turnOf([1, 2, 3]))('seed %i', (seed) => {
  simulatedSuite({
    seed,
    except: EXCEPT,
    open(clock, options) {
      const members = Array.from({ length: 3 }, () => memoryStore({ clock, ...options }));
      const far = () => members.map((each) => chaosStore(each, { clock, ...WEATHER }));
      return {
        connect: () => quorum(far(), { clock, patience: 150 }),
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
