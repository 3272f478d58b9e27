/** The files of docs/operations: their queries, and what these ask for. */
import { readFileSync } from 'node:fs';

const FOLDER = new URL('../../../docs/operations/', import.meta.url);
export const ALERTS: URL = new URL('alerts.yml', FOLDER);
const DASHBOARD = new URL('grafana-dashboard.json', FOLDER);

interface Dashboard {
  readonly panels: readonly { readonly targets: readonly { readonly expr: string }[] }[];
  readonly templating: { readonly list: readonly { readonly query: string }[] };
}

/** What a query asks of one metric: which labels, and with which value, if it is just one. */
export interface Selector {
  readonly metric: string;
  readonly labels: readonly { readonly name: string; readonly value: string | undefined }[];
}

export interface Parsed {
  readonly selectors: readonly Selector[];
  /** The labels of `by` and `without`. */
  readonly grouped: readonly string[];
}

/** Of the alerts: the lines that are further in than `expr`. */
export function alertQueries(): string[] {
  const text = readFileSync(ALERTS, 'utf8');
  return [...text.matchAll(/^( +)expr: >-\n((?:\1 +.*\n)+)/gm)].map(([, , query = '']) => query);
}

/** The page to which each alert leads; empty without one. */
export function runbookLinks(): string[] {
  const [, ...alerts] = readFileSync(ALERTS, 'utf8').split(/^ +- alert: /m);
  return alerts.map((alert) => /^ +runbook_url: (\S+)$/m.exec(alert)?.[1] ?? '');
}

/** Of the panels, with a range as Grafana would choose it, and everything selected. */
export function dashboardQueries(): string[] {
  return dashboard()
    .panels.flatMap(({ targets }) => targets)
    .map(({ expr }) => expr.replaceAll('$__rate_interval', '5m').replace(/\$\w+/g, '.*'));
}

/** What the variables of the dashboard choose from. */
export function variableQueries(): { readonly metric: string; readonly label: string }[] {
  const shape = /^label_values\((\w+)(?:\{.*\})?, (\w+)\)$/;
  return dashboard()
    .templating.list.map(({ query }) => shape.exec(query))
    .flatMap((match) => (match ? [{ metric: match[1] ?? '', label: match[2] ?? '' }] : []));
}

function dashboard(): Dashboard {
  return JSON.parse(readFileSync(DASHBOARD, 'utf8')) as Dashboard;
}

const GROUPING = /\b(?:by|without|on|ignoring)\s*\(([^)]*)\)/g;
const SELECTOR = /\b([a-zA-Z_][\w:]*)\b\s*(\(|\{([^}]*)\})?/g;
const MATCHER = /(\w+)\s*(=~|!~|!=|=)\s*"([^"]*)"/g;
const WORDS = new Set(['or', 'and', 'unless', 'offset', 'bool']);

/** Enough of the language for these files; whether it is the language, promtool says. */
export function parseQuery(query: string): Parsed {
  const grouped: string[] = [];
  const text = query.replace(/\[[^\]]*\]/g, '').replace(GROUPING, (_, labels: string) => {
    grouped.push(...labels.split(',').map((label) => label.trim()));
    return '';
  });
  const selectors = [...text.matchAll(SELECTOR)]
    .filter(([, name = '', behind]) => behind !== '(' && !WORDS.has(name))
    .map(([, metric = '', , matchers = '']) => ({ metric, labels: labelsIn(matchers) }));
  return { selectors, grouped };
}

function labelsIn(matchers: string): Selector['labels'] {
  return [...matchers.matchAll(MATCHER)].map(([, name = '', how, value = '']) => {
    return { name, value: how?.endsWith('~') || value === '' ? undefined : value };
  });
}
