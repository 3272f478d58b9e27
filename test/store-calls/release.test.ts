import type { Claim } from 'holdfast/store';
import { expect, it } from 'vitest';
import type { Caller } from '../../src/store-calls/batcher.ts';
import { Releases } from '../../src/store-calls/release.ts';
import { FakeClock } from '../support/fake-clock.ts';
import { failure } from '../support/scripted-store.ts';

const CLAIM = { id: 'a', resource: 'a', ttlMs: 3_000 } as Claim;

it('a release that fails is repeated until the TTL has ended its claim', async () => {
  const clock = new FakeClock();
  const sent: number[] = [];
  const send = (_: Claim, caller: Caller<boolean>): void => {
    sent.push(clock.now());
    caller.settle(undefined, failure(), 0);
  };
  const began = clock.now();
  void new Releases(() => ({ send }), clock).send(CLAIM);
  await clock.advance(10_000);
  // Three quarters of 25 ms, then of twice as much, of a second at most.
  const after = [0, 19, 56, 131, 281, 581, 1181, 1931, 2681];
  expect(sent.map((at) => Math.round(at - began))).toEqual(after);
});

it('once it is closed nothing is sent, and no timer is set', async () => {
  const clock = new FakeClock();
  const sent: Caller<boolean>[] = [];
  const releases = new Releases(() => ({ send: (_, caller) => void sent.push(caller) }), clock);
  void releases.send(CLAIM);
  sent[0]?.settle(undefined, failure(), 0);
  releases.closed = true;
  await clock.advance(3_000);
  expect([sent.length, clock.timers]).toEqual([1, 0]);
  sent[0]?.settle(undefined, failure(), 0);
  expect(clock.timers).toBe(0);
});
