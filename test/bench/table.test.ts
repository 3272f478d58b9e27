import { describe, expect, test } from 'vitest';
import type { Result } from '../../bench/measuring/result.ts';
import { merged, table } from '../../bench/measuring/table.ts';

function run(rate: number, ratio: number): Result[] {
  const goal = { goal: 'ratio ≥ 0.6', met: ratio >= 0.6 };
  return [
    { what: 'floor', measured: { 'pairs/s': rate / ratio }, ratio: 1 },
    { what: 'holdfast', measured: { 'pairs/s': rate, failures: 0 }, ratio, ...goal },
  ];
}

describe('several runs of a figure', () => {
  test('have medians, with the spread where there is a goal', () => {
    expect(table(merged([run(900, 0.65), run(800, 0.55), run(850, 0.62)])).split('\n')).toEqual([
      '|  | pairs/s | failures | ratio | goal |',
      '| --- | --: | --: | --: | --- |',
      '| floor | 1,385 |  | 1 |  |',
      '| holdfast | 850 (800–900) | 0 | 0.62 (0.55–0.65) | ratio ≥ 0.6: met |',
    ]);
  });

  test('miss a goal that most of them miss', () => {
    const [, ours] = merged([run(900, 0.65), run(800, 0.55), run(850, 0.59)]);
    expect(ours).toMatchObject({ ratio: 0.59, met: false });
  });

  test('may lack a number that could not be measured in one of them', () => {
    const unknown = run(800, 0.6).map(({ what }) => ({ what, measured: {} }));
    const [, ours] = merged([unknown, run(900, 0.7), run(950, 0.8)]);
    expect(ours).toMatchObject({ measured: { 'pairs/s': 950 }, ratio: 0.8 });
  });

  test('have the same rows', () => {
    const [floor] = run(900, 0.6);
    expect(() => merged([run(900, 0.6), floor ? [floor] : []])).toThrow('the row holdfast');
  });
});

describe('one run of a figure', () => {
  test('has its numbers alone', () => {
    expect(table(run(850, 0.62))).toContain('| holdfast | 850 | 0 | 0.62 | ratio ≥ 0.6: met |');
  });
});
