import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../tidy/tree.ts';
import { FAULTS } from './catalogue.ts';
import { plant } from './fault.ts';

/** One that is worse replaces another. */
const MOST = 200;

const source = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

describe('the catalogue of faults', () => {
  it.each(FAULTS)('can plant: $name', (fault) => {
    const sound = source(fault.file);
    expect(plant(sound, fault)).not.toBe(sound);
  });

  it('names each once', () => {
    expect(new Set(FAULTS.map(({ name }) => name)).size).toBe(FAULTS.length);
  });

  it('stays small', () => expect(FAULTS.length).toBeLessThanOrEqual(MOST));

  it('names for each a seed, or a test in a file that is there', () => {
    const unnoticed = FAULTS.filter(({ by: { file, test, seed } }) =>
      file === undefined ? seed === undefined : !test || !existsSync(join(ROOT, file)),
    );
    expect(unnoticed.map(({ name }) => name)).toEqual([]);
  });

  it('refuses a fault whose text is not there, or there twice', () => {
    const fault = { name: 'a fault', file: 'src/a.ts', find: 'b', replace: 'c' };
    expect(() => plant('a', fault)).toThrow(/'a fault' is 0 times/);
    expect(() => plant('bb', fault)).toThrow(/2 times/);
    expect(plant('abc', { ...fault, replace: '$&' })).toBe('a$&c');
  });
});
