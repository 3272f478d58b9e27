/** etcd. */
import { floors, WATCH_FLOOR } from '../floors/etcd.ts';
import { cpuMicros } from '../measuring/cpu.ts';
import type { Subject } from '../measuring/subject.ts';
import { OURS } from './ours.ts';

export const etcd: Subject = {
  name: 'etcd',
  contenders: { ...floors, ...OURS },
  alone: [['floor: put and delete', 'floor: grant, put, revoke', 'holdfast']],
  pairs: [200, 1_920],
  goals: [0.85, 3],
  contended: [WATCH_FLOOR, 'holdfast', 'holdfast, fair'],
  asks: 'requests',
  crowd: { ratio: 1.3 },
  observe: ({ url, pids }) => ({
    work: async () => ({ requests: await metric(url, REQUESTS), 'server CPU µs': cpuMicros(pids) }),
    bytes: () => metric(url, IN_USE),
  }),
};

/** What clients have sent so far, a message of a stream being a request too. */
const REQUESTS = /^grpc_server_msg_received_total\{.*\} (\S+)$/gm;

/** What its file has in use; revisions are part of it until they are compacted. */
const IN_USE = /^etcd_mvcc_db_total_size_in_use_in_bytes (\S+)$/gm;

/** Of all servers together. */
async function metric(url: string, lines: RegExp): Promise<number> {
  const servers = url.replace('etcd://', '').split(',');
  const answers = await Promise.all(servers.map((server) => fetch(`http://${server}/metrics`)));
  const texts = await Promise.all(answers.map((answer) => answer.text()));
  const values = texts.join('\n').matchAll(lines);
  return [...values].reduce((sum, [, value]) => sum + Number(value), 0);
}
