/** Documents with and without a clock, near and far, that tell of changes or not. */
import { documentStore } from 'holdfast/document';
import { simulatedClock } from 'holdfast/testkit';
import { describe } from 'vitest';
import { Shelf, type ShelfOptions } from '../../stores/document/shelf.ts';
import { turnOf } from '../../support/this-run.ts';
import { simulatedSuite } from './suite.ts';

const SHELVES: readonly (readonly [string, Omit<ShelfOptions, 'clock'> & { farMs?: number }])[] = [
  ['told, watched', { slackMs: 0, watches: true }],
  ['told, far', { slackMs: 0, watches: true, farMs: 20 }],
  ['told, polled', { slackMs: 0 }],
  ['observed, watched', { watches: true }],
  ['observed, far, polled', { farMs: 20 }],
];

describe.each(turnOf(SHELVES))('%s', (_, { farMs = 0, ...options }) => {
  simulatedSuite({
    open(clock, { maxWaiters }) {
      const latencyMs = (): number => clock.random() * farMs;
      const shelf = new Shelf({ ...options, clock, latencyMs });
      const connect = () => documentStore(shelf.connect(), { clock, maxWaiters });
      // The time that a reply brings is as old as the reply.
      return { connect, slackMs: farMs };
    },
    traits: documentStore(new Shelf({ ...options, clock: simulatedClock() }).connect()).traits,
    lacks: ['claimAll'],
  });
});
