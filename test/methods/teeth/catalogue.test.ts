import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from '../tidy/tree.ts';
import { FAULTS } from './catalogue.ts';
import { plant } from './fault.ts';
import { cheapest, readRecord } from './record.ts';

const source = (file: string): string => readFileSync(join(ROOT, file), 'utf8');

describe('the catalogue of faults', () => {
  it.each(FAULTS)('can plant: $name', (fault) => {
    const sound = source(fault.file);
    expect(plant(sound, fault)).not.toBe(sound);
  });

  it('names each once', () => {
    expect(new Set(FAULTS.map(({ name }) => name)).size).toBe(FAULTS.length);
  });

  it('is recorded: something has noticed every fault; if not, run npm run teeth', () => {
    const record = readRecord();
    const names = FAULTS.map(({ name }) => name);
    expect(names.filter((name) => !cheapest(record.get(name)))).toEqual([]);
    expect([...record.keys()].filter((name) => !names.includes(name))).toEqual([]);
  });

  it('is recorded with files that are there; if not, run npm run teeth', () => {
    const notices = [...readRecord().values()].flatMap((kinds) => Object.values(kinds));
    const files = new Set(notices.flatMap(({ file }) => file ?? []));
    expect([...files].filter((file) => !existsSync(join(ROOT, file)))).toEqual([]);
  });

  it('refuses a fault whose text is not there, or there twice', () => {
    const fault = { name: 'a fault', file: 'src/a.ts', find: 'b', replace: 'c', why: '' };
    expect(() => plant('a', fault)).toThrow(/'a fault' is 0 times/);
    expect(() => plant('bb', fault)).toThrow(/2 times/);
    expect(plant('abc', { ...fault, replace: '$&' })).toBe('a$&c');
  });
});
