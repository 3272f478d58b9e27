/**
 * A holder is killed: how long until the next one has the lock, who waits in another process. It is
 * the time from the end of the lease, as the server sees it, or from the kill, where a session
 * lives on after its last heartbeat and servers look for it now and then.
 */
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Locks } from 'holdfast';
import { connect } from 'holdfast/connect';
import { call } from '../measuring/processes.ts';
import { median, report } from '../measuring/result.ts';
import type { Place } from '../measuring/subject.ts';
import { schemeOf } from '../stores/index.ts';

interface Rule {
  readonly ttlMs: number;
  readonly batches: number;
  /** From the end of the lease, or of the process. */
  readonly since: 'lease' | 'process';
  readonly goalMs: number;
}

const LEASE: Rule = { ttlMs: 600, batches: 8, since: 'lease', goalMs: 250 };

/** The shortest session of ZooKeeper that its servers grant by default: two ticks. */
const TTL_MS = 4_000;
const RULES: Readonly<Record<string, Rule>> = {
  etcd: { ttlMs: TTL_MS, batches: 2, since: 'process', goalMs: TTL_MS + 1_000 },
  // A session is half as long again, and the servers look once in a tick of 2 s.
  zookeeper: { ttlMs: TTL_MS, batches: 2, since: 'process', goalMs: 1.5 * TTL_MS + 2_000 },
};

/** Killed one after another, so that they are killed at any time between two heartbeats. */
const HOLDERS = 6;

export async function measure([{ url }]: readonly [Place]): Promise<void> {
  const rule = RULES[schemeOf(url)] ?? LEASE;
  const { ttlMs, batches, goalMs } = rule;
  const locks = await connect(url, { ttl: ttlMs });
  const after: number[] = [];
  for (let batch = 0; batch < batches; batch++) {
    const kills = Array.from({ length: HOLDERS }, (_, n) => {
      const options = { url, resource: `dead-holder:${batch}:${n}`, ttlMs };
      return kill(locks, options, { rule, inMs: (n * ttlMs) / 3 / HOLDERS });
    });
    after.push(...(await Promise.all(kills)));
  }
  await locks.close();
  const most = Math.max(...after);
  report({
    what: `holdfast, ttl ${ttlMs / 1000} s, ${after.length} holders killed`,
    measured: { 'least ms': Math.min(...after), 'median ms': median(after), 'most ms': most },
    ...{ goal: `most ≤ ${goalMs} ms`, met: most <= goalMs },
  });
}

interface HolderOptions {
  readonly url: string;
  readonly resource: string;
  readonly ttlMs: number;
}

/** A process that takes a lock and holds it until it is killed. */
export async function hold({ url, resource, ttlMs }: HolderOptions): Promise<void> {
  const locks = await connect(url, { ttl: ttlMs });
  await locks.mutex(resource).acquire();
  // No process is left to end it if the figure fails.
  process.once('disconnect', () => process.exit());
  process.send?.('held');
}

/** Returns the time in ms to the next grant. */
async function kill(
  locks: Locks,
  options: HolderOptions,
  { rule, inMs }: { rule: Rule; inMs: number },
): Promise<number> {
  const holder = call(import.meta.url, 'hold', options);
  await once(holder, 'message');
  const waiting = locks.mutex(options.resource).acquire();
  const granted = waiting.then((lease) => ({ lease, at: performance.now() }));
  await sleep(inMs);
  let end = performance.now();
  holder.kill('SIGKILL');
  if (rule.since === 'lease') {
    await once(holder, 'exit');
    const asked = performance.now();
    const left = (await locks.inspect(options.resource)).holders[0]?.leftMs;
    if (left === undefined) throw new Error('The lease was over before it was seen.');
    // The server answered later, so this is the earliest end that is possible.
    end = asked + left;
  }
  const { lease, at } = await granted;
  await lease.release();
  return at - end;
}
