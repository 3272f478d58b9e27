import { expect, it } from 'vitest';
import { Confirmations } from '../../../../src/clients/zookeeper/session/confirmations.ts';

/** Of a session of 4 s, whose leader hears of activities after 1 s at the latest. */
const started = (): Confirmations => new Confirmations(4000, 0);

type Write = readonly [sentAt: number, answeredAt: number];

/** The touch that is proved after these writes. */
function touchedAfter(session: Confirmations, ...writes: readonly Write[]): number {
  for (const [sentAt, answeredAt] of writes) session.committed(sentAt, answeredAt);
  return session.touchedAt;
}

it('one write proves no touch', () => {
  expect(touchedAfter(started(), [5000, 5010])).toBe(0);
});

it('a write is told when another came half a tick later, and one more after that', () => {
  const session = started();
  // Only 999 ms lay between the first answer and the second write, so the third one counts.
  expect(touchedAfter(session, [1000, 1010], [2009, 2020], [2021, 2030])).toBe(0);
  expect(touchedAfter(session, [2029, 2040])).toBe(0);
  expect(touchedAfter(session, [2030, 2050])).toBe(1000);
});

it('the last write must have been sent after the one before it was answered', () => {
  const session = started();
  expect(touchedAfter(session, [1000, 1010], [2010, 2400], [2399, 2500])).toBe(0);
  expect(touchedAfter(session, [2400, 2510])).toBe(1000);
});

it('with two writes each quarter of the timeout, it follows by one interval', () => {
  const session = started();
  for (let at = 1000; at <= 9000; at += 1020) {
    touchedAfter(session, [at, at + 5], [at + 5, at + 10]);
  }
  expect(session.touchedAt).toBe(8140 - 1020);
});

it('among writes without a pause it follows as closely, and remembers few', () => {
  const session = started();
  for (let at = 0; at <= 20_000; at += 1) session.committed(at, at + 1);
  expect(session.touchedAt).toBeGreaterThan(20_000 - 1200);
  expect(session.touchedAt).toBeLessThan(20_000 - 1000);
});

it('a new connection touches at once, and what was sent before proves nothing more', () => {
  const session = started();
  touchedAfter(session, [1000, 1010], [2100, 2110]);
  session.connected(2200);
  expect([session.touchedAt, touchedAfter(session, [2300, 2310])]).toEqual([2200, 2200]);
});

it('a ping counts as well, once a write came half a tick after its answer, and another one', () => {
  const session = started();
  session.answered(5000, 5010);
  expect(touchedAfter(session, [6009, 6020], [6021, 6030])).toBeLessThan(5000);
  expect(touchedAfter(session, [6031, 6040], [6041, 6050])).toBe(5000);
});
