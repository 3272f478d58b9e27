import { type Faults, inTest } from '../fault.ts';

const dialects = { file: 'src/fences/sql/dialects.ts' };
const etcd = { file: 'src/fences/etcd.ts' };
const zookeeper = { file: 'src/fences/zookeeper.ts' };
const check = { file: 'src/fences/redis/check.lua' };
const fence = { file: 'src/fences/objects/fence.ts' };

const SQL_FENCE = 'test/fences/sql-fence.test.ts';
const IN_ETCD = 'test/stores/etcd/fence.test.ts';
const IN_ZOOKEEPER = 'test/stores/zookeeper/fence-faults.test.ts';
const IN_REDIS = 'test/stores/redis/fence-faults.test.ts';
const CONFORMANCE = ['test/fences/fence-conformance.test.ts', 'SQLite'] as const;
const OBJECT_FENCE = ['test/fences/object-fence.test.ts', 'ETags of the text'] as const;

/** Fences in databases, in etcd, ZooKeeper and Redis, and on objects. */
export const FENCE_FAULTS: Faults = {
  'a reader lets in a writer that is older': {
    ...dialects,
    find: ' AND f.floor <= excluded.token',
    replace: '',
    why: 'what a reader has read is changed by a holder that lost the lock before',
    by: inTest(...CONFORMANCE, 'fence: writers stay behind readers, and readers behind writers'),
  },
  'entering does not raise the fence': {
    ...dialects,
    find: 'DO UPDATE SET token = excluded.token\nWHERE',
    replace: 'DO UPDATE SET token = f.token\nWHERE',
    why: 'an old holder writes after a new one',
    by: inTest(...CONFORMANCE, 'fence: the newest holder passes, an older one never again'),
  },
  'tokens of different stores are compared': {
    ...dialects,
    find: 'WHERE f.lineage = excluded.lineage AND f.token <= excluded.token',
    replace: 'WHERE f.token <= excluded.token',
    why: 'after a store was reset, an old holder passes the fence',
    by: inTest(...CONFORMANCE, 'fence: another lineage is refused until an operator adopts it'),
  },
  'the fence may be entered outside of a transaction': {
    file: 'src/fences/sql/sqlite.ts',
    find: 'if (!(connection.inTransaction ??',
    replace: 'if (!(true ?? connection.inTransaction ??',
    why: 'the fence is raised, and the write that it protects is not behind it',
    by: inTest(
      SQL_FENCE,
      'a fence',
      'wants a transaction, an exclusive or a read lease, and a real token',
    ),
  },
  'in etcd, a write does not compare the fence': {
    ...etcd,
    find: 'const fenced: Txn = { compare: check,',
    replace: 'const fenced: Txn = { compare: [],',
    why: 'an old holder writes after a new one has entered',
    by: inTest(IN_ETCD, 'fence: a holder that has only read already stops the older one'),
  },
  'in etcd, the fence is raised without a look at who entered meanwhile': {
    ...etcd,
    find: 'compare: [unchanged],\n        success',
    replace: 'success',
    why: 'an older holder lowers the fence, and writes',
    by: inTest(IN_ETCD, 'an entry looks again if another was made since it looked'),
  },
  'in ZooKeeper, a write does not check the fence': {
    ...zookeeper,
    find: 'await session.multi([...check, ...steps], within)).slice(check.length)',
    replace: 'await session.multi(steps, within))',
    why: 'an old holder writes after a new one has entered',
    by: inTest(IN_ZOOKEEPER, 'an older holder that came in meanwhile is put out'),
  },
  'in ZooKeeper, the fence is set whatever its version is': {
    ...zookeeper,
    find: "const once = { step: 'set', path, data, version } as const;",
    replace: "const once = { step: 'set', path, data, version: undefined } as const;",
    why: 'an older holder lowers the fence, and writes',
    by: inTest(IN_ZOOKEEPER, 'a newer holder that came in meanwhile is found'),
  },
  'in Redis, a write does not compare the entry': {
    ...check,
    find: 'if seen[1] ~= entry or seen[2] ~= token then',
    replace: 'if false then',
    why: 'an old holder writes after a new one has entered',
    by: inTest(
      IN_REDIS,
      'a write that its connection holds back does not come after what was done since',
    ),
  },
  'in Redis, a request that comes twice is carried out twice': {
    ...check,
    find: 'if tonumber(seen[3]) >= tonumber(seq) then',
    replace: 'if tonumber(seen[3]) > tonumber(seq) then',
    why: 'what a client sends again is sold twice',
    by: inTest(IN_REDIS, 'a request that is repeated, or overtaken, is refused by its number'),
  },
  'in Redis, an older token may enter': {
    file: 'src/fences/redis/enter.lua',
    find: ' or highest > token or ',
    replace: ' or ',
    why: 'an old holder lowers the fence, and writes',
    by: inTest(
      'test/stores/redis/fence-suite.test.ts',
      "'ioredis 6'",
      'Redis',
      'fence: the newest holder passes, an older one never again',
    ),
  },
  'of objects, an entry does not look at the tokens before it': {
    ...fence,
    find: 'raised(verb, token, () => before.mark)',
    replace: 'raised(verb, token, () => undefined)',
    why: 'an old holder enters after a new one, and writes',
    by: inTest(...OBJECT_FENCE, 'fence: the newest holder passes, an older one never again'),
  },
  'of objects, a write goes onto whatever is there': {
    ...fence,
    find: `if (late.mark && late.mark.entry !== mark.entry) throw enteredSince(token, late.mark);
      if (!late.mark || late.mark.seq <= known.mark.seq) {`,
    replace: 'if (!late.mark || late.mark.entry === mark.entry) {',
    why: 'an old holder writes after a new one has entered',
    by: inTest(...OBJECT_FENCE, 'fence: a holder that has only read already stops the older one'),
  },
  'of objects, the probe takes a service that compares and writes in two steps': {
    file: 'src/clients/objects/probe.ts',
    find: "if (rivals.filter((one) => 'etag' in one).length > 1) {",
    replace: "if (rivals.filter((one) => 'etag' in one).length > AT_ONCE) {",
    why: 'two holders write onto the same value, and one of the writes is lost',
    by: inTest(
      'test/fences/object-probe.test.ts',
      'the probe finds',
      'those that compare first and write then, by the probe',
    ),
  },
  'sql: on MySQL an older holder takes the fence back': {
    ...dialects,
    find: 'AND token <= VALUES(token) AND floor <= VALUES(token), VALUES(token), token)',
    replace: 'AND floor <= VALUES(token), VALUES(token), token)',
    why: 'an old holder writes after a new one',
    by: inTest(
      'test/database-locks/fences.test.ts',
      "'MariaDB'",
      'mysql2',
      'the newest holder passes, an older one never again: undefined',
    ),
  },
};
