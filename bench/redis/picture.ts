/**
 * Draws what the figure `redis/waiters` measured: what a hand-off costs against the number of those
 * who wait.
 */
import { byName, type Plot, svg } from '../plot.ts';
import type { Result } from '../result.ts';

const PLOT: Plot = {
  title: 'Commands and time of a hand-off against the number of waiters',
  panels: [
    { title: 'commands an acquisition', column: 'commands an acquisition', from: 0, to: 4 },
    { title: 'hand-off, median ms', column: 'gap median ms', from: -2, to: 3 },
  ],
  across: { name: 'waiters', from: 1, to: 3 },
};

const COLORS: Readonly<Record<string, string>> = {
  holdfast: '#2f81f7',
  'floor: queue and message': '#8b949e',
  redlock: '#e5534b',
  'redis-semaphore': '#c69026',
  '@verrou/core': '#57ab5a',
  'redlock-universal': '#b083f0',
};

/** The picture as SVG. Tuned rivals are below their defaults, which are dashed. */
export function picture(results: readonly Result[]): string {
  const series = [...byName(results, 'waiter')].map(([name, rows]) => ({
    name,
    color: COLORS[name.replace(/, (tuned|fair)$/, '')] ?? '#8b949e',
    dashed: !/tuned|holdfast|floor/.test(name),
    rows,
  }));
  return svg(PLOT, series);
}
