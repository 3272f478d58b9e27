/** Thousands of leases of one process: what their heartbeats cost both sides, and their memory. */
import { holdLeases } from '../measuring/held.ts';
import { report } from '../measuring/result.ts';
import { type Place, TTL_MS } from '../measuring/subject.ts';
import { subjectAt } from '../stores/index.ts';

const INTERVALS = 3;

export async function measure([place]: readonly [Place]): Promise<void> {
  const { asks, leases: goals } = await subjectAt(place.url);
  const { count } = goals;
  const held = await holdLeases(place, { count, intervals: INTERVALS });
  const ofBytes = goals.bytes !== undefined;
  report({
    what: `holdfast, ${count.toLocaleString('en')} leases, ttl ${TTL_MS / 1000} s`,
    measured: {
      [`${asks} a heartbeat`]: held.asked,
      'server CPU %': held.serverCpuPercent,
      'server CPU µs a lease': held.serverMicros,
      'server bytes a lease': held.serverBytes,
      'client CPU %': held.clientCpuPercent,
      'longest pause ms': held.longestPauseMs,
      'bytes a lease': held.bytes,
    },
    goal: ofBytes ? `≤ ${goals.bytes} bytes a lease` : `≤ ${goals.asks} ${asks}`,
    met: ofBytes ? held.bytes <= (goals.bytes ?? 0) : held.asked <= goals.asks + goals.slack,
  });
}
