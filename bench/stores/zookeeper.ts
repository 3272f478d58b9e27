/** ZooKeeper. */
import { connect } from 'node:net';
import { floors, WATCH_FLOOR } from '../floors/zookeeper.ts';
import { cpuMicros } from '../measuring/cpu.ts';
import type { Subject } from '../measuring/subject.ts';
import { OURS } from './ours.ts';

export const zookeeper: Subject = {
  name: 'ZooKeeper',
  contenders: { ...floors, ...OURS },
  alone: [['floor: create and look, delete', 'holdfast']],
  pairs: [500, 1_920],
  goals: [0.85, 0.85],
  contended: [WATCH_FLOOR, 'holdfast', 'holdfast, fair'],
  asks: 'requests',
  crowd: { ratio: 1.3 },
  observe: ({ url, pids }) => ({
    async work() {
      const names = ['packets_received', 'packets_sent'];
      const [received = Number.NaN, sent = Number.NaN] = await monitored(url, names);
      const counted = { requests: received, events: sent - received };
      return { ...counted, 'server CPU µs': cpuMicros(pids) };
    },
    bytes: async () => (await monitored(url, ['approximate_data_size']))[0] ?? Number.NaN,
  }),
};

/** What all servers count by these names. */
async function monitored(url: string, names: readonly string[]): Promise<number[]> {
  const servers = url.replace('zookeeper://', '').split(',');
  const text = (await Promise.all(servers.map(fourLetters))).join('\n');
  return names.map((name) => {
    const values = text.matchAll(new RegExp(`^zk_${name}\\t(\\d+)$`, 'gm'));
    return [...values].reduce((sum, [, value]) => sum + Number(value), 0);
  });
}

/** What a server says of itself; as a client of four letters. */
async function fourLetters(server: string): Promise<string> {
  const [host, port] = server.split(':');
  const socket = connect({ host, port: Number(port) });
  socket.end('mntr');
  let said = '';
  for await (const bytes of socket.setEncoding('latin1')) said += bytes;
  return said;
}
