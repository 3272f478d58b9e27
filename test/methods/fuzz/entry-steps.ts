/** Where a program begins: locks, stores, fences, URLs, durations. */
import { createLocks, isLockError, type LocksOptions, parseDuration, type Store } from 'holdfast';
import { connect, openStore } from 'holdfast/connect';
import { type EnterToken, type SqliteConnection, sqlFence } from 'holdfast/fence';
import { type MemoryStoreOptions, memoryStore } from 'holdfast/memory';
import { type SqliteOptions, sqliteStore } from 'holdfast/sqlite';
import { type ZookeeperStoreOptions, zookeeperStore } from 'holdfast/zookeeper';
import { duration } from './lock-steps.ts';
import { complain } from './process-watch.ts';
import { made, ODD, options, plain, type Said, slot } from './recipes.ts';
import {
  durationOf,
  isCount,
  isDuration,
  isFlag,
  isPrefix,
  isString,
  isText,
  maybe,
} from './rules.ts';
import { step, type Weighted } from './step.ts';
import type { World } from './world.ts';

const clock = slot(
  (value, world) => value === undefined || value === world.clock,
  made({ 'the clock': (world) => world.clock }),
  plain({}, { now: () => 0 }, null),
);

/** URLs of stores that open nothing before their first verb. */
export const UNOPENED: readonly string[] = [
  ...['memory:', 'sqlite:/tmp/never/opened.db', 'redis://u:p@h', 'etcd://u:p@h?prefix=l/'],
  ...['zookeeper://u:p@h,i:2/c?path=/l&maxWaiters=9', 'zookeepers://h'],
];

const ENSEMBLES = ['zookeeper://h', 'zookeeper://u:p@h:1,i/c', 'zookeepers://[::1]/'];

/** Elsewhere it is refused; here it needs no clean-up that could be forgotten. */
const store = slot(
  (value, world) => value === world.store || value === world.memory,
  made({ 'the store': (world) => world.store, 'the memory': (world) => world.memory }),
  made({
    'a claim alone': () => ({ claim: () => {} }),
    'a store without traits': (world) => ({ ...world.store, traits: undefined }),
    'a store with other traits': (world) => ({ ...world.store, traits: { ttlStepMs: 'x' } }),
    'a store that watches with 5': (world) => ({ ...world.store, watch: 5 }),
  }),
);

function ttlsAgree(said: Said): boolean {
  const ttl = durationOf(said.get('ttl') ?? 10_000) ?? 0;
  return ttl >= 100 && ttl <= (durationOf(said.get('maxTtl') ?? Math.max(30_000, ttl)) ?? 0);
}

const MAKERS = [
  step(
    'createLocks',
    [
      store,
      options(
        {
          prefix: slot(
            maybe(isPrefix),
            plain('', 'p:', 'x'.repeat(128), undefined),
            plain('x'.repeat(129), '\ud800', 5),
          ),
          label: slot(maybe(isString), plain('me'), plain(5)),
          ttl: slot(maybe(isDuration), plain('1s', 100, 30_000), plain(99, '31s', '1e3')),
          wait: duration,
          maxTtl: slot(maybe(isDuration), plain('1s', '30s', '1h'), plain('25d')),
          drift: slot(
            maybe((drift) => typeof drift === 'number' && drift >= 0 && drift < 0.5),
            plain(0, 0.1, undefined),
            plain(0.5, -0.1, '0.1'),
          ),
          clock,
        },
        { rule: ttlsAgree },
      ),
    ],
    (world, on: Store, said: LocksOptions) => world.extra.push(createLocks(on, said)),
  ),
  step(
    'memoryStore',
    [
      options({
        maxWaiters: slot(
          maybe((n) => isCount(n, 0, Number.MAX_VALUE)),
          plain(0, 5),
          plain(-1, 0.5, '5'),
        ),
        quarantine: duration,
        clock: slot(
          (value, world) => value === undefined || value === world.clock,
          made({ 'the clock': (world) => world.clock }),
          plain({}, null),
        ),
      }),
    ],
    (_, said: MemoryStoreOptions) => void memoryStore(said),
  ),
  step(
    'sqliteStore',
    [
      slot(isFile, plain('/tmp/never/opened.db', 'a b?%.db'), plain('', ':memory:', 'file:x')),
      options({
        maxWaiters: slot(
          maybe((n) => isCount(n, 0, Number.MAX_VALUE)),
          plain(5),
          plain(-1),
        ),
        busyTimeout: duration,
        trustFileSystem: slot(maybe(isFlag), plain(true, false), plain(1)),
      }),
    ],
    (_, file: string, said: SqliteOptions) => void sqliteStore(file, said),
  ),
  step(
    'zookeeperStore',
    [
      slot(
        (value) => ENSEMBLES.includes(value as string),
        plain(...ENSEMBLES),
        plain('zookeeper:h', 'zookeeper://u@h', 'zookeeper://h/a//b', 'etcd://h'),
      ),
      options({
        path: slot(
          maybe(
            (value) =>
              typeof value === 'string' && /^\/(?!zookeeper)[a-z/]*(?<=[a-z]|^\/)$/.test(value),
          ),
          plain('/', '/a/b', undefined),
          plain('', 'a', '/a/', '//', '/a/../b', '/\0', '/zookeeper/a'),
        ),
        maxWaiters: slot(
          maybe((n) => isCount(n, 0, Number.MAX_VALUE)),
          plain(0, 5),
          plain(-1, 0.5, '5'),
        ),
      }),
    ],
    (_, address: string, said: ZookeeperStoreOptions) => void zookeeperStore(address, said),
  ),
  step(
    'sqlFence',
    [
      options(
        {
          dialect: slot((value) => value === 'sqlite', plain('sqlite'), plain('oracle', 1n)),
          table: slot(
            maybe((value) => typeof value === 'string' && /^[a-z_]\w{0,62}$/i.test(value)),
            plain('fences', 'T_1', undefined),
            plain('1x', 'a b', 'a"', 'x'.repeat(64), 'a;--', 'a\n'),
          ),
        },
        { needed: ['dialect'] },
      ),
    ],
    (_, said: { dialect: 'sqlite' }) => void sqlFence(said),
  ),
];

/** A path that other processes can share; nothing is opened before the first verb. */
function isFile(value: unknown): boolean {
  if (typeof value !== 'string' || value === '' || value.startsWith('file:')) return false;
  return !value.includes(':memory:') && !value.includes('\0');
}

const PLAIN = [
  step(
    'parseDuration',
    [slot(isDuration, plain(0, 5, '5s', '1.5m', '0.001ms', '24d'), plain('5', '5 sec', -0.1))],
    (_, value: string) => {
      if (parseDuration(value) !== durationOf(value)) complain('a duration is another', value);
    },
    { weight: 4 },
  ),
  step('isLockError', [slot(() => true, ODD)], (_, value) => {
    if (isLockError(value) || isLockError(value, 'STORE')) complain('taken for an error of ours');
  }),
  step(
    'openStore',
    [
      slot(
        (url) => UNOPENED.includes(url as string),
        plain(...UNOPENED),
        plain(
          '',
          'sqlite:',
          'sqlit:x',
          'memory:x',
          'redis://u:p@h/x',
          'etcd://h?path=/l',
          'zookeeper://u@h',
          'zookeeper://h?sessionTimeout=9s',
          'SQLITE:x',
          'http://[',
          '://',
        ),
      ),
    ],
    (_, url: string) => openStore(url).then(() => undefined),
    { rejects: true, weight: 1 },
  ),
  step(
    'connect',
    [slot((url) => url === 'memory:', plain('memory:'), plain('gemfire://h', 'm:', 'memory'))],
    (_, url: string) => connect(url).then((locks) => locks.close()),
    { rejects: true, weight: 1 },
  ),
];

const TOKEN = /^[1-9]\d{0,18}$/;

function isToken(value: unknown): boolean {
  const token = typeof value === 'string' && TOKEN.test(value) ? BigInt(value) : value;
  return typeof token === 'bigint' && token > 0n && token < 2n ** 63n;
}

const KINDS = ['mutex', 'read', 'write', 'permits'];

const connection = slot(
  (value, world) => value === world.database,
  made({ 'a transaction': (world) => world.database }),
  made({
    'a connection outside of a transaction': (world) => world.idle,
    'an empty connection': () => ({}),
    'a connection that says so': () => ({ inTransaction: true }),
  }),
);

const entering = options(
  {
    resource: slot((text) => isText(text, 640), plain('a', 'b', '\0'), plain('', '\ud800')),
    lineage: slot((text) => isText(text, 512), plain('x', 'y'), plain('', 5)),
    token: slot(isToken, plain(1n, 2n, '3', 2n ** 63n - 1n), plain(0n, '0', '1e3', 2n ** 63n, 1)),
    kind: slot(
      maybe((kind) => KINDS.includes(kind as string)),
      plain(...KINDS, undefined),
    ),
  },
  { needed: ['resource', 'lineage', 'token'], open: true },
);

const fence = sqlFence({ dialect: 'sqlite' });

const FENCE = [
  step(
    'fence.enter',
    [connection, entering],
    (_: World, on: SqliteConnection, lease: EnterToken) => fence.enter(on, lease),
    { codes: ['STALE_TOKEN', 'UNSUPPORTED'] },
  ),
  step(
    'fence.adopt',
    [connection, entering],
    (_: World, on: SqliteConnection, lease: EnterToken) => fence.adopt(on, lease),
    { weight: 1 },
  ),
];

export const ENTRY_STEPS: readonly Weighted[] = [...MAKERS, ...PLAIN, ...FENCE];
