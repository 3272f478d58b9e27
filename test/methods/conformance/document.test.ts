/** Documents with and without a clock, near and far, that tell of changes or not. */
import { documentStore } from 'holdfast/document';
import { conformance, simulatedClock } from 'holdfast/testkit';
import { test } from 'vitest';
import { Shelf, type ShelfOptions } from '../../stores/document/shelf.ts';

const SHELVES: readonly (readonly [string, Omit<ShelfOptions, 'clock'> & { farMs?: number }])[] = [
  ['told, watched', { slackMs: 0, watches: true }],
  ['told, far', { slackMs: 0, watches: true, farMs: 20 }],
  ['told, polled', { slackMs: 0 }],
  ['observed, watched', { watches: true }],
  ['observed, far, polled', { farMs: 20 }],
];

for (const [name, { farMs = 0, ...options }] of SHELVES) {
  conformance({
    test: (title, body) => test(`${name}: ${title}`, body),
    skip: (title, reason) => test(`${name}: ${title}`, (context) => context.skip(reason)),
    create({ maxWaiters = 10_000 }) {
      const clock = simulatedClock();
      const latencyMs = (): number => clock.random() * farMs;
      const shelf = new Shelf({ ...options, clock, latencyMs });
      return {
        clock,
        connect: () => documentStore(shelf.connect(), { clock, maxWaiters }),
        leap: (ms) => clock.sleep(ms),
        dispose: () => clock.stop(),
      };
    },
    traits: documentStore(new Shelf({ ...options, clock: simulatedClock() }).connect()).traits,
    leaps: true,
  });
}
