/** Draws what the figure `sql/which` measured: how much is sold by each way of locking. */
import { byName, type Plot, svg } from '../plot.ts';
import type { Result } from '../result.ts';

const PLOT: Plot = {
  title: 'Sales a second against the number of workers, by the kind of lock',
  panels: [
    { title: 'all want one row: sales a second', column: 'one row: sold/s', from: 1, to: 4 },
    { title: 'each any of 64 rows: sales a second', column: '64 rows: sold/s', from: 1, to: 4 },
  ],
  across: { name: 'workers', from: 0, to: 2 },
};

const COLORS: Readonly<Record<string, string>> = {
  'row lock': '#e5534b',
  'advisory lock': '#c69026',
  'version column': '#57ab5a',
  'holdfast, memory': '#2f81f7',
  'holdfast, PostgreSQL, fence': '#b083f0',
  'holdfast, PostgreSQL, fair, fence': '#d2a8ff',
};

/** The picture as SVG. */
export function picture(results: readonly Result[]): string {
  const series = [...byName(results, 'worker')].map(([name, rows]) => {
    return { name, color: COLORS[name] ?? '#8b949e', dashed: name === 'no lock', rows };
  });
  return svg(PLOT, series);
}
