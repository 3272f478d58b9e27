import { describe, expect, it } from 'vitest';
import { outputOf, start } from './run.ts';

/** Lines of what each of them prints. */
const STORIES: Readonly<Record<string, readonly RegExp[]>> = {
  'access-token': [/✓ with a lock: \d+ uses of (\d+) tokens, for \1 requests to the endpoint$/m],
  'config-reload': [
    /✓ with a read-write lock: of \d+ reads during 20 reloads, 0 saw half of a new one$/m,
  ],
  'gpu-pool': [
    /✓ never more than 4 of 4 GPUs were busy$/m,
    /✓ the big job was number \d+ of 37 to begin$/m,
  ],
  inventory: [
    /^ +no lock +\d+ .* \d+ too many$/m,
    /^ +row lock +\d+ +exact +exact$/m,
    /^ +version +\d+ +exact +exact$/m,
    /^ +mutex +\d+ +exact +20 too many$/m,
    /^ +mutex \+ fence +\d+ +exact +exact$/m,
  ],
  migration: [
    /✓ instance \d took 4 of 4 steps$/m,
    /✓ 4 found it done, and 0 served without the schema$/m,
  ],
  'order-queue': [
    /consumer 1 has taken order (\d+) and is killed .*\n +consumer [23] ships order \1$/m,
    /✓ consumers that do each order once: 20 parcels for 20 orders/m,
  ],
  standby: [
    /✓ worker (\d) is killed, worker (\d) was first in line: now .*worker \2/m,
    /✓ exactly two led in (\d+) of \1 looks$/m,
  ],
};

describe('examples with several processes', () => {
  for (const [name, lines] of Object.entries(STORIES)) {
    it(`${name}`, async () => {
      const output = await outputOf(name);
      for (const line of lines) expect(output).toMatch(line);
      expect(output).not.toContain('✗');
    });
  }

  it('refuse a store that is known to one process alone', async () => {
    const { code, output } = await start('gpu-pool', '--store', 'memory:').ended;
    expect(output).toContain('memory: is known to one alone');
    expect(code).toBe(1);
  });
});
