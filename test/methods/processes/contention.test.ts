/** Eight processes want the same lock; what they record is checked by the rules. */
import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { paced, turnOf } from '../../support/this-run.ts';
import { disorderOf, type HoldRecord } from '../histories/holds.ts';
import { Child, databaseFile } from './child.ts';
import type { ContenderOptions, Told } from './children/contender.ts';

const PROCESSES = 8;

async function contenders(options: Partial<ContenderOptions>) {
  const file = databaseFile();
  writeFileSync(`${file}.counter`, '0');
  const all = Array.from({ length: PROCESSES }, () => {
    const defaults = {
      kind: 'mutex',
      rounds: 25,
      ttl: paced(5000),
      limit: 1,
      fair: false,
    } as const;
    return new Child('contender', { file, ...defaults, ...options });
  });
  await Promise.all(all.map((child) => child.next('ready')));
  return { file, all };
}

function start(all: readonly Child[]): void {
  for (const child of all) child.tell({ type: 'go' });
}

const told = (all: readonly Child[]): Told[] => all.flatMap((child) => child.heard<Told>('hold'));

const counted = (file: string): number => Number(readFileSync(`${file}.counter`, 'utf8'));

const recordsOf = (all: readonly Child[]): HoldRecord[] => told(all).map(({ record }) => record);

describe('eight processes', () => {
  const kinds = [
    ['mutex', { kind: 'mutex' }],
    ['mutex, fair', { kind: 'mutex', fair: true }],
    ['readers and writers', { kind: 'rw' }],
    ['weighted permits', { kind: 'semaphore', limit: 4 }],
  ] as const;

  test.each(turnOf(kinds))(
    '%s: the history is correct and no update is lost',
    async (_name, options) => {
      const { file, all } = await contenders(options);
      start(all);
      await Promise.all(all.map((child) => child.next('done')));
      const holds = told(all);
      expect(holds.length).toBe(PROCESSES * 25);
      expect(disorderOf(recordsOf(all))).toEqual([]);
      expect(counted(file)).toBe(holds.filter((hold) => hold.counted).length);
      expect(new Set(holds.map(({ record }) => record.process)).size).toBe(PROCESSES);
    },
  );

  test('some are killed at any moment: the others go on, and the history is correct', async () => {
    const { file, all } = await contenders({ kind: 'mutex', rounds: 40, ttl: paced(1500) });
    start(all);
    const [a, b, c, ...survivors] = all as [Child, Child, Child, ...Child[]];
    for (const victim of [a, b, c]) {
      await victim.next('hold');
      victim.kill('SIGKILL');
      await victim.exited();
    }
    await Promise.all(survivors.map((child) => child.next('done')));
    const acknowledged = told(all).length;
    expect(told(survivors).length).toBe(survivors.length * 40);
    expect(disorderOf(recordsOf(all))).toEqual([]);
    // A victim may have counted without living to tell.
    expect(counted(file)).toBeGreaterThanOrEqual(acknowledged);
    expect(counted(file)).toBeLessThanOrEqual(acknowledged + 3);
  });
});
