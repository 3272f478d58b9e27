/** Who wants locks of ZooKeeper, and what its servers say of their work. */
import { connect } from 'node:net';
import { zookeeperStore } from 'holdfast/zookeeper';
import { Crew } from '../contended/crowd.ts';
import type { Connect } from '../contender.ts';
import { locksOf } from '../holdfast.ts';
import { cpuMicros } from '../sql-stores/server.ts';
import { oneByOne, pipelined, watchBefore } from './floors.ts';

export const url: string = process.env.BENCH_DATABASE_URL ?? '';
/** Three servers that agree, for the figures that need them. */
export const threeUrl: string = process.env.BENCH_THREE_URL ?? '';

export const FLOOR = 'floor: create and look, delete';
export const SLOW_FLOOR = 'floor: create, look, delete';
export const WATCH_FLOOR = 'floor: watch the one before';
export const OURS = 'holdfast, fair';
export const CURATOR = 'Curator';

const ofOne: Readonly<Record<string, Connect>> = {
  [FLOOR]: pipelined,
  [SLOW_FLOOR]: oneByOne,
  [WATCH_FLOOR]: watchBefore,
  holdfast: async (at) => locksOf(zookeeperStore(at), false, async () => {}),
  [OURS]: async (at) => locksOf(zookeeperStore(at), true, async () => {}),
};

export const CONTENDED: readonly string[] = [WATCH_FLOOR, 'holdfast', OURS, CURATOR];

/** Of the same name, with three servers instead of one. */
export function ofThree(name: string): string {
  return `${name}, three servers`;
}

export function contender(what: string): Connect {
  const name = what.replace(/, three servers$/, '');
  const found = ofOne[name];
  if (!found) throw new Error(`There is no contender ${what}.`);
  return what === name ? found : () => found(threeUrl);
}

interface Packets {
  readonly received: number;
  readonly sent: number;
}

/** What all servers got from their clients so far, and what they sent: answers and events. */
export async function packets(): Promise<Packets> {
  const all = [url, threeUrl].flatMap((one) => one.replace('zookeeper://', '').split(','));
  const each = await Promise.all(all.filter(Boolean).map(monitored));
  const sum = (name: string): number =>
    each.reduce((total, text) => {
      const [, value] = new RegExp(`^zk_packets_${name}\\t(\\d+)$`, 'm').exec(text) ?? [];
      return total + Number(value);
    }, 0);
  return { received: sum('received'), sent: sum('sent') };
}

export type Counted = 'requests an acquisition' | 'events an acquisition' | 'server CPU µs';

export function crew(): Crew<Counted> {
  return new Crew('zookeeper/crowd-worker', async () => {
    const { received, sent } = await packets();
    return {
      'requests an acquisition': received,
      'events an acquisition': sent - received,
      'server CPU µs': cpuMicros(),
    };
  });
}

/** What a server says of itself; as a client of four letters. */
export async function monitored(server: string): Promise<string> {
  const [host, port] = server.split(':');
  const socket = connect({ host, port: Number(port) });
  socket.end('mntr');
  let said = '';
  for await (const bytes of socket.setEncoding('latin1')) said += bytes;
  return said;
}
