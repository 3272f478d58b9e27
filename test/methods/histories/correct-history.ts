import { admissible } from '../../../src/contract/admission.ts';
import { simulatedClock } from '../../../src/testkit/simulated-clock.ts';
import type { HoldRecord } from './check-history.ts';

const SHAPES = [
  { resource: 'mutex', kind: 'mutex', permits: [1], limit: 1 },
  { resource: 'rw', kind: 'read', permits: [1], limit: 2 ** 30 },
  { resource: 'rw', kind: 'write', permits: [2 ** 30], limit: 2 ** 30 },
  { resource: 'permits', kind: 'permits', permits: [1, 2, 3], limit: 3 },
] as const;

const NEVER = Number.POSITIVE_INFINITY;

interface Standing {
  readonly record: HoldRecord;
  admittedAt: number;
  leavesAt: number;
}

/**
 * What processes would record of a store that follows the rule of admission: they learn of grants
 * late and stop believing early. Sorted by resource and grant.
 */
export function correctHistory(seed: number, { fair }: { readonly fair: boolean }): HoldRecord[] {
  const { random } = simulatedClock(seed);
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  const queues = new Map<string, Standing[]>();
  const records: HoldRecord[] = [];
  let token = 0n;

  function enter(now: number): void {
    const { permits, ...shape } = pick(SHAPES);
    const queue = queues.get(shape.resource) ?? [];
    queues.set(shape.resource, queue);
    const requestedAt = now - random();
    const times = { requestedAt, queuedAt: now, grantedAt: now, endedAt: now };
    const who = { token: ++token, lineage: 'l', process: pick([1, 2, 3]), fair };
    const record: HoldRecord = { ...shape, permits: pick(permits), ...who, ...times };
    queue.push({ record, admittedAt: NEVER, leavesAt: NEVER });
  }

  function settle(queue: readonly Standing[], now: number): void {
    const standings = queue.map(({ record, admittedAt }) => {
      return { ...record, admitted: admittedAt < NEVER };
    });
    const waiting = queue.filter(({ admittedAt }) => admittedAt === NEVER);
    for (const each of waiting.slice(0, admissible(standings))) {
      each.admittedAt = now;
      each.leavesAt = now + 1 + random() * 10;
    }
  }

  function leave(queue: Standing[], now: number): void {
    for (const each of queue.filter(({ leavesAt }) => leavesAt <= now)) {
      queue.splice(queue.indexOf(each), 1);
      const grantedAt = each.admittedAt + random() * (each.leavesAt - each.admittedAt);
      const endedAt = grantedAt + random() * (each.leavesAt - grantedAt);
      records.push({ ...each.record, grantedAt, endedAt });
    }
  }

  for (let now = 1; now < 150; now++) {
    if (random() < 0.6) enter(now);
    for (const queue of queues.values()) {
      leave(queue, now);
      settle(queue, now);
    }
  }
  return records.sort((a, b) => a.resource.localeCompare(b.resource) || a.grantedAt - b.grantedAt);
}
