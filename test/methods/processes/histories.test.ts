/**
 * What real processes write down while they are stopped, killed and blocked is linearizable. The
 * controls show that it need not be: the same processes without a look at the lease, or without a
 * fence, are found out. Long runs: `test/methods/histories/run.ts`.
 */
import { describe, expect, test } from 'vitest';
import { RUN } from '../../support/this-run.ts';
import { Crowd, type CrowdOptions } from '../histories/crowd.ts';
import { type Judged, judge } from '../histories/record.ts';

const store = 'sqlite:{folder}/locks.db';

/** A history is short; whether a fault meets somebody at the wrong moment is chance. */
const OPERATIONS = 300;
const HISTORIES = 20;
const HARMFUL = ['stop', 'block', 'stop', 'block'] as const;

async function* histories(options: Partial<CrowdOptions> = {}): AsyncGenerator<Judged> {
  const crowd = await Crowd.start({ store, ...options });
  try {
    for (let seed = RUN; seed < RUN + HISTORIES; seed++) {
      yield await judge(await crowd.record({ seed, operations: OPERATIONS }));
    }
  } finally {
    await crowd.close();
  }
}

async function findIllegal(
  without: 'lease' | 'fence',
  of: (judged: Judged) => string,
): Promise<Judged | undefined> {
  for await (const judged of histories({ without, faults: HARMFUL })) {
    if (of(judged) === 'illegal') return judged;
  }
  return undefined;
}

describe('histories of four processes', () => {
  test('with stops, kills and blocked event loops are legal', async () => {
    for await (const { lock, counter, operations, faults } of histories()) {
      expect(lock.disorders.map(({ message }) => message)).toEqual([]);
      expect(counter.disorders.map(({ message }) => message)).toEqual([]);
      expect(operations).toBeGreaterThanOrEqual(OPERATIONS - 100);
      expect(new Set(faults).size).toBe(4);
      break;
    }
  });

  test('control: who does not look at the lease is caught, and the fence holds', async () => {
    const found = await findIllegal('lease', ({ lock }) => lock.verdict);
    expect(found?.counter.verdict).toBe('legal');
  });

  test('control: who writes past the fence loses updates', async () => {
    const found = await findIllegal('fence', ({ counter }) => counter.verdict);
    expect(found?.lock.verdict).toBe('legal');
  });
});
