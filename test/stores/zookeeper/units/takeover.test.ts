import { expect, it } from 'vitest';
import { QueueView } from '../../../../src/stores/consensus/queue-view.ts';
import { factsOf } from '../../../../src/stores/zookeeper/places.ts';
import { onlyThoseBefore } from '../../../../src/stores/zookeeper/takeover.ts';

const STAT = {
  ...{ czxid: 1n, mzxid: 5n, pzxid: 5n, ctimeMs: 0, mtimeMs: 0, session: 0n },
  ...{ version: 0, aversion: 0, dataLength: 0 },
};

/** A queue's node after so many children have come and gone, as its servers tell it. */
function facts(came: number, went: number, czxid = 1n): ReturnType<typeof factsOf> {
  return factsOf({ ...STAT, czxid, cversion: (came + went) | 0, numChildren: came - went });
}

function seen(
  index: number,
  note: ReturnType<typeof factsOf>,
): Parameters<typeof onlyThoseBefore>[0] {
  return { index, view: new QueueView([], { note }) };
}

it('departures are counted, whatever comes meanwhile', () => {
  const before = seen(2, facts(10, 7));
  expect(onlyThoseBefore(before, facts(10, 9))).toBe(true);
  expect(onlyThoseBefore(before, facts(99, 9))).toBe(true);
  expect(onlyThoseBefore(before, facts(10, 8))).toBe(false);
  expect(onlyThoseBefore(before, facts(11, 10))).toBe(false);
});

it('the count may overflow, as that of the servers does', () => {
  for (const went of [2 ** 30 - 1, 2 ** 31 - 1]) {
    const before = seen(1, facts(went + 3, went));
    expect(onlyThoseBefore(before, facts(went + 4, went + 1))).toBe(true);
    expect(onlyThoseBefore(before, facts(went + 4, went + 2))).toBe(false);
  }
});

it('the number of the next child is how many came', () => {
  for (const went of [0, 7, 2 ** 30, 2 ** 31 - 3]) {
    expect(facts(went + 2, went).next).toBe(went + 2);
  }
});

it('another node of the same name has counts of its own', () => {
  expect(onlyThoseBefore(seen(1, facts(3, 1)), facts(3, 2, 2n))).toBe(false);
});
