import { type Store, systemClock } from 'holdfast';
import { documentStore } from 'holdfast/document';
import { test } from 'vitest';
import { differ } from '../../methods/differential/differ.ts';
import { Shelf } from './shelf.ts';

/**
 * Processes learn of each other by looking, which cannot tell a first waiter from the one before
 * it, so hints are not compared. Without a clock, another process counts a life from when it first
 * saw it, so the two are one.
 */
test.each([
  { how: 'two processes with a clock', slackMs: 0 },
  { how: 'one process without a clock', slackMs: undefined },
])('a document answers as memory does: $how', async ({ slackMs }) => {
  let now = 0;
  const clock = { ...systemClock(), now: () => now };
  const shelf = new Shelf({ clock, slackMs, watches: true });
  const opened: Store[] = [];
  await differ({
    open: (options) => {
      const store = documentStore(shelf.connect(), { clock, ...options });
      opened.push(store);
      return store;
    },
    together: slackMs === undefined,
    // The time of the service is known as well as the last reply is young.
    pass: async (ms) => {
      now += ms;
      for (const store of opened) await store.inspect('the time');
    },
    hintsByState: true,
    groups: 3,
  });
});
