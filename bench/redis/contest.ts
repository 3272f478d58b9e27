/** Who wants locks of Redis that others want too, and what the server says of its work. */
import { type Columns, Crew } from '../contended/crowd.ts';
import { type Setting, versus } from '../contended/versus.ts';
import type { Result } from '../result.ts';
import { contender } from './contenders.ts';
import { observe, type Server, serverUrl } from './server.ts';

const OTHERS = ['redlock', 'redis-semaphore', '@verrou/core', 'redlock-universal'];
export const RIVALS: readonly string[] = OTHERS.flatMap((name) => [name, `${name}, tuned`]);
export const FLOOR = 'floor: queue and message';

export type Counted = 'commands an acquisition' | 'with those in scripts' | 'server CPU µs';

export function crewOf(server: Server): Crew<Counted> {
  return new Crew('redis/crowd-worker', async (name) => {
    const { sent, ran, cpuMicros } = await server.work(contender(name).sets === true);
    return {
      'commands an acquisition': sent,
      'with those in scripts': ran,
      'server CPU µs': cpuMicros,
    };
  });
}

export async function contest(
  setting: Pick<Setting<Counted>, 'figure' | 'processes' | 'tasks' | 'drained'>,
  goals: (contender: string, measured: Columns<Counted>, ratio: number) => Partial<Result>,
): Promise<void> {
  const url = serverUrl();
  const server = observe(url);
  const contenders = [FLOOR, 'holdfast', 'holdfast, fair', ...RIVALS];
  const extent = { contenders, rounds: 1, roundMs: 700 };
  await versus({ ...setting, ...extent, url, crew: crewOf(server) }, goals);
  server.client.disconnect();
}
