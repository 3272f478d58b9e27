/** Which store a URL names; each is loaded when it is needed. */
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { messageOf, UsageError } from '../base/errors.ts';
import { nearest } from '../base/nearest.ts';
import type { ServerFacts } from '../clients/facts/server-facts.ts';
import type { Store } from '../contract/store.ts';

export interface Opener {
  openUrl(scheme: string, rest: string): Store | Promise<Store>;
  /** What the server says of itself; missing where there is none, or only a module knows it. */
  facts?(scheme: string, rest: string): Promise<ServerFacts>;
  /** Makes the tables of the locks, or by this statement another one; missing without SQL. */
  migrate?(scheme: string, rest: string, table?: string): Promise<void>;
  /** The SQL of the tables of the locks; missing where the first use makes them. */
  migrationText?(scheme: string, rest: string): string;
}

type Load = () => Promise<Opener>;

const STORES: readonly (readonly [schemes: string, load: Load])[] = [
  ['memory', async () => ({ openUrl: openMemory })],
  ['sqlite', () => import('./sqlite/open-url.ts')],
  [
    'redis rediss redis+unix redis+sentinel rediss+sentinel redis+cluster rediss+cluster',
    () => import('./redis/open-url.ts'),
  ],
  [
    'redisson+redis redisson+rediss redisson+redis+cluster',
    () => import('../interop/redisson/open-url.ts'),
  ],
  ['postgres postgresql', () => import('./postgres/open-url.ts')],
  ['mysql mariadb', () => import('./mysql/open-url.ts')],
  [
    'table+postgres table+postgresql table+mysql table+mariadb',
    () => import('./table/open-url.ts'),
  ],
  ['etcd etcds', () => import('./etcd/open-url.ts')],
  ['zookeeper zookeepers', () => import('./zookeeper/open-url.ts')],
  ['s3', () => import('./objects/open-url.ts')],
  ['dynamodb', () => import('./dynamodb/open-url.ts')],
  ['mongodb mongodb+srv', () => import('./mongodb/open-url.ts')],
  ['consul consuls', () => import('./consul/open-url.ts')],
  ['kubernetes', () => import('./kubernetes/open-url.ts')],
  ['hazelcast', () => import('./hazelcast/open-url.ts')],
  ['module', async () => ({ openUrl: openModule })],
];

const OPENERS: ReadonlyMap<string, Load> = new Map(
  STORES.flatMap(([schemes, load]) => schemes.split(' ').map((scheme) => [scheme, load] as const)),
);

/** @throws UsageError if the URL names no store. */
export async function openerOf(
  url: string,
): Promise<{ readonly opener: Opener; readonly scheme: string; readonly rest: string }> {
  if (typeof url !== 'string') throw new UsageError('The URL of a store must be a string.');
  const [, scheme, rest = ''] = /^([a-z][a-z0-9+.-]*):(.*)$/is.exec(url) ?? [];
  if (scheme === undefined) {
    throw new UsageError(`A store is named by a URL such as 'sqlite:./locks.db' or 'memory:'.`);
  }
  const opener = await OPENERS.get(scheme)?.();
  if (opener) return { opener, scheme, rest };
  throw new UsageError(`There is no store for '${scheme}:'${suggest(scheme)}.`);
}

async function openMemory(_scheme: string, rest: string): Promise<Store> {
  if (rest !== '') throw new UsageError(`'memory:' takes nothing after the colon.`);
  return (await import('./memory/index.ts')).memoryStore();
}

/** A name is looked up from the directory that the program runs in, as `require` does there. */
async function openModule(_scheme: string, rest: string): Promise<Store> {
  const [, name = '', query = ''] = /^([^?]*)\??(.*)$/s.exec(rest) ?? [];
  if (name === '') throw new UsageError(`'module:' needs a package or a file: module:./store.mjs`);
  const open = load(name);
  if (typeof open === 'function') return open(query);
  throw new UsageError(`The default export of ${name} must be a function that returns a store.`);
}

function load(name: string): unknown {
  try {
    const loaded = createRequire(join(process.cwd(), 'package.json'))(name);
    return loaded?.default ?? loaded;
  } catch (cause) {
    throw new UsageError(`The module ${name} cannot be loaded: ${messageOf(cause)}`, { cause });
  }
}

function suggest(scheme: string): string {
  const known = [...OPENERS.keys()];
  const near = nearest(scheme.toLowerCase(), known);
  return near ? `; did you mean '${near}:'?` : `; there are ${known.join(', ')}`;
}
