/** The dashboard and the alerts ask for what a program with Holdfast exports, and for all of it. */
import { readFileSync } from 'node:fs';
import type { Locks } from 'holdfast';
import { describe, expect, it } from 'vitest';
import { failure, setUp } from '../../support/scripted-store.ts';
import {
  alertQueries,
  dashboardQueries,
  parseQuery,
  runbookLinks,
  variableQueries,
} from './operations.ts';
import { deadlocked, exportToPrometheus, loseOne, putOff, type TellOptions, tell } from './sdk.ts';

/** The values of each label of each metric. */
type Exported = ReadonlyMap<string, ReadonlyMap<string, ReadonlySet<string>>>;

const queries = [...alertQueries(), ...dashboardQueries()];

async function exportedByScenario(): Promise<Exported> {
  const { meterProvider, page } = await exportToPrometheus();
  const told = { meterProvider, nameOf: (resource: string) => resource.split(':')[0] };
  const { locks } = tell(told);
  await attempt(locks);
  await loseSome(locks);
  await putOff(told);
  await failSome(told);
  await deadlocked(told);
  return seriesIn(await page());
}

async function attempt(locks: Locks): Promise<void> {
  const lock = locks.mutex('invoice:4711');
  await lock.run(async () => {
    await lock.acquire({ wait: 1 }).catch(() => {});
    await lock.tryAcquire();
  });
  await Promise.all([lock.run(() => {}), lock.run(() => {})]);
}

async function loseSome(locks: Locks): Promise<void> {
  await loseOne(locks);
  await locks.mutex('invoice:3').acquire();
  await locks.close({ drain: 0 });
}

async function failSome(told: TellOptions): Promise<void> {
  const { clock, store, locks } = setUp();
  tell({ ...told, locks });
  const acquired = locks.mutex('invoice:4').acquire();
  await clock.rest();
  await acquired;
  store.onRenew = () => ({ state: 'error', error: failure() });
  await clock.advance(3_400);
  store.onClaim = () => ({ state: 'error', error: failure() });
  const tried = locks.mutex('invoice:5').tryAcquire();
  await Promise.all([clock.rest(), tried.catch(() => {})]);
}

function seriesIn(page: string): Exported {
  const metrics = new Map<string, Map<string, Set<string>>>();
  for (const [, metric = '', labels = ''] of page.matchAll(/^(\w+)\{(.*)\} \S+$/gm)) {
    const known = metrics.get(metric) ?? new Map<string, Set<string>>();
    metrics.set(metric, known);
    for (const [, label = '', value = ''] of labels.matchAll(/(\w+)="([^"]*)"/g)) {
      known.set(label, (known.get(label) ?? new Set()).add(value));
    }
  }
  return metrics;
}

function problemsOf(query: string, exported: Exported): string[] {
  const { selectors, grouped } = parseQuery(query);
  const problems = selectors.length === 0 ? ['no metric'] : [];
  for (const { metric, labels } of selectors) {
    const series = exported.get(metric);
    if (!series) problems.push(`no metric ${metric}`);
    for (const { name, value } of labels) {
      const values = series?.get(name);
      if (!values) problems.push(`no label ${name} of ${metric}`);
      else if (value !== undefined && !values.has(value)) problems.push(`no ${name} is ${value}`);
    }
  }
  const isOfNone = (label: string): boolean =>
    selectors.every(({ metric }) => !exported.get(metric)?.has(label));
  return [...problems, ...grouped.filter(isOfNone).map((label) => `no label ${label}`)];
}

it('is asked for by name, label and value, and nothing is left out', async () => {
  const exported = await exportedByScenario();
  expect(alertQueries()).toHaveLength(7);
  expect(queries.flatMap((query) => problemsOf(query, exported))).toEqual([]);
  const variables = variableQueries();
  expect(variables).toHaveLength(2);
  for (const { metric, label } of variables) expect(exported.get(metric)?.has(label)).toBe(true);
  const shown = new Set(queries.flatMap((query) => parseQuery(query).selectors).map(familyOf));
  const metrics = [...exported.keys()].filter((metric) => metric.startsWith('holdfast_'));
  expect(metrics.filter((metric) => !shown.has(familyOf({ metric })))).toEqual([]);
});

it('leads from each alert to a heading of the runbook', () => {
  const runbook = 'docs/guide/runbook.md';
  const page = readFileSync(new URL(`../../../${runbook}`, import.meta.url), 'utf8');
  const headings = [...page.matchAll(/^## (.+)$/gm)].map(([, heading = '']) => heading);
  const links = headings.map((one) => `${runbook}#${one.toLowerCase().replaceAll(' ', '-')}`);
  expect(runbookLinks()).toHaveLength(alertQueries().length);
  for (const link of runbookLinks()) expect(links).toContain(link);
});

describe('what is not exported is noticed', () => {
  const exported = seriesIn('holdfast_leases{holdfast_store="redis"} 1');

  it.each([
    ['a metric', 'rate(holdfast_grants_total[5m])'],
    ['a label', 'holdfast_leases{lock!=""}'],
    ['a value', 'holdfast_leases{holdfast_store="etcd"}'],
    ['a label in a sum', 'sum by (holdfast_lock) (holdfast_leases)'],
    ['a metric behind a word', 'holdfast_leases unless holdfast_lease offset 5m'],
  ])('%s', (_, query) => {
    expect(problemsOf(query, exported)).not.toEqual([]);
  });

  it('and nothing else is', () => {
    const query = 'sum by (holdfast_store) (rate(holdfast_leases{holdfast_store="redis"}[5m])) > 0';
    expect(problemsOf(query, exported)).toEqual([]);
  });
});

function familyOf({ metric }: { readonly metric: string }): string {
  return metric.replace(/_(bucket|count|sum)$/, '');
}
