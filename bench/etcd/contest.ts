/** Who wants locks of etcd, and what its server says of its work. */
import { etcdStore } from 'holdfast/etcd';
import { Crew } from '../contended/crowd.ts';
import type { Connect } from '../contender.ts';
import { locksOf } from '../holdfast.ts';
import { cpuMicros } from '../sql-stores/server.ts';
import { grantAndRevoke, putAndDelete, queueAndWatch } from './floors.ts';

export const url: string = process.env.BENCH_DATABASE_URL ?? '';
/** Three servers that agree, for the figures that need them. */
export const threeUrl: string = process.env.BENCH_THREE_URL ?? '';

export const FLOOR = 'floor: put and delete';
export const LEASE_FLOOR = 'floor: grant, put, revoke';
export const WATCH_FLOOR = 'floor: queue and watch';
export const OURS = 'holdfast, fair';

const CONTENDERS: Readonly<Record<string, Connect>> = {
  [FLOOR]: putAndDelete,
  [LEASE_FLOOR]: grantAndRevoke,
  [WATCH_FLOOR]: queueAndWatch,
  holdfast: async (at) => locksOf(etcdStore(at), false, async () => {}),
  [OURS]: async (at) => locksOf(etcdStore(at), true, async () => {}),
};

export const CONTENDED: readonly string[] = [WATCH_FLOOR, 'holdfast', OURS];

/** Of the same name, with three servers instead of one. */
export function ofThree(name: string): string {
  return `${name}, three servers`;
}

export function contender(what: string): Connect {
  const name = what.replace(/, three servers$/, '');
  const found = CONTENDERS[name];
  if (!found) throw new Error(`There is no contender ${what}.`);
  return what === name ? found : () => found(threeUrl);
}

/** What all clients have sent so far, a message of a stream being a request too. */
export async function requests(): Promise<number> {
  const others = threeUrl.replace('etcd://', '').split(',').filter(Boolean);
  const all = [url, ...others.map((server) => `http://${server}`)];
  const each = await Promise.all(all.map(requestsAt));
  return each.reduce((sum, count) => sum + count);
}

async function requestsAt(server: string): Promise<number> {
  const text = await (await fetch(`${server}/metrics`)).text();
  const counts = text.matchAll(/^grpc_server_msg_received_total\{.*\} (\S+)$/gm);
  return [...counts].reduce((sum, [, count]) => sum + Number(count), 0);
}

export type Counted = 'requests an acquisition' | 'server CPU µs';

export function crew(): Crew<Counted> {
  return new Crew('etcd/crowd-worker', async () => ({
    'requests an acquisition': await requests(),
    'server CPU µs': cpuMicros(),
  }));
}
