import { beforeEach, expect, it, onTestFinished } from 'vitest';
import { missing, type ProgramName } from './programs.ts';
import type { RedisServer } from './redis-server.ts';
import { SteppedClock } from './stepped-clock.ts';
import { startSingle } from './topologies.ts';

/** Steps are this large, in ms, so that no slowness is taken for one. */
const HOUR_MS = 3_600_000;

const PROGRAMS: readonly ProgramName[] = ['redis', 'redis-8', 'valkey'];

beforeEach(({ skip }) => {
  skip(process.platform !== 'linux', 'not promised: clocks are stepped on Linux only');
});

it.for(PROGRAMS)('the clock of %s can be stepped, while it runs', async (program, { skip }) => {
  const reason = await missing(program);
  skip(reason !== undefined, reason);
  const clock = await SteppedClock.create();
  onTestFinished(() => clock.close());
  const server = await startSingle({ program, env: clock.env });
  onTestFinished(() => server.close());
  expect(await hoursAhead(server)).toBe(0);
  await server.command('SET', 'k', 'v', 'PX', HOUR_MS);
  clock.step(-2 * HOUR_MS);
  expect(await hoursAhead(server)).toBe(-2);
  expect(await server.command('PTTL', 'k')).toBeGreaterThan(2 * HOUR_MS);
  clock.step(5 * HOUR_MS);
  expect(await hoursAhead(server)).toBe(3);
  expect(await server.command('GET', 'k')).toBe(null);
  await server.restart({ keepData: false });
  expect(await hoursAhead(server)).toBe(3);
});

it('the clock of another server stays', async () => {
  const clock = await SteppedClock.create();
  onTestFinished(() => clock.close());
  const server = await startSingle();
  onTestFinished(() => server.close());
  clock.step(HOUR_MS);
  expect(await hoursAhead(server)).toBe(0);
});

async function hoursAhead(server: RedisServer): Promise<number> {
  const [seconds] = (await server.command('TIME')) as [string, string];
  // Adding 0 makes 0 of -0.
  return Math.round((Number(seconds) * 1_000 - Date.now()) / HOUR_MS) + 0;
}
