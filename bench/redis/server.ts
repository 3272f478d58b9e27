/** What the server itself says about its work. */
import { Redis } from 'ioredis';

export function serverUrl(): string {
  const url = process.env.BENCH_REDIS_URL;
  if (!url) throw new Error('BENCH_REDIS_URL names no server.');
  return url;
}

/** The nodes of a cluster. */
export function clusterUrls(): string[] {
  const urls = process.env.BENCH_REDIS_CLUSTER;
  if (!urls) throw new Error('BENCH_REDIS_CLUSTER names no nodes.');
  return urls.split(',');
}

export interface Work {
  /** Commands that clients sent. */
  readonly sent: number;
  /** Commands it ran, those that scripts call among them. */
  readonly ran: number;
  /** CPU time in µs. */
  readonly cpuMicros: number;
}

export interface Server {
  readonly client: Redis;
  /** All its work so far; what was sent are scripts, and plain SETs if `sets`. */
  work(sets: boolean): Promise<Work>;
}

const QUESTIONS = new Set(['info', 'command', 'client|setinfo', 'hello']);

export function observe(url: string): Server {
  const client = new Redis(url);
  return {
    client,
    async work(sets) {
      const calls = new Map<string, number>();
      const stats = await client.info('commandstats');
      for (const [, name = '', n] of stats.matchAll(/^cmdstat_([^:]+):calls=(\d+)/gm)) {
        if (!QUESTIONS.has(name)) calls.set(name, Number(n));
      }
      const of = (name: string): number => calls.get(name) ?? 0;
      const cpu = await client.info('cpu');
      return {
        sent: of('evalsha') + of('eval') + (sets ? of('set') : 0),
        ran: [...calls.values()].reduce((sum, n) => sum + n, 0),
        cpuMicros: (field(cpu, 'used_cpu_sys') + field(cpu, 'used_cpu_user')) * 1e6,
      };
    },
  };
}

export function difference(after: Work, before: Work): Work {
  return {
    sent: after.sent - before.sent,
    ran: after.ran - before.ran,
    cpuMicros: after.cpuMicros - before.cpuMicros,
  };
}

/** A number in a reply to INFO. */
export function field(info: string, name: string): number {
  return Number(new RegExp(`^${name}:(.+)`, 'm').exec(info)?.[1]);
}
