import type { Fault } from '../fault.ts';

const fence = { file: 'src/fence/statements.ts' };
const entry = { file: 'src/fence/sql-fence.ts' };
const etcd = { file: 'src/fence/etcd-fence.ts' };
const zookeeper = { file: 'src/fence/zookeeper-fence.ts' };
const redisEnter = { file: 'src/fence/lua/enter.lua' };
const redisCheck = { file: 'src/fence/lua/check.lua' };
const redisEntry = { file: 'src/fence/redis-entry.ts' };
const object = { file: 'src/fence/object-fence.ts' };
const request = { file: 'src/fence/object-requests.ts' };
const headers = { file: 'src/fence/headers.ts' };

/** The fence in the user's own database. */
export const FENCE_FAULTS: readonly Fault[] = [
  {
    ...fence,
    name: 'the fence refuses its own holder',
    find: 'AND f.token <= excluded.token AND',
    replace: 'AND f.token < excluded.token AND',
    why: 'only the first transaction of a holder succeeds',
  },
  {
    ...fence,
    name: 'a reader lets in a writer that is older',
    find: ' AND f.floor <= excluded.token',
    replace: '',
    why: 'what a reader has read is changed by a holder that lost the lock before',
  },
  {
    ...fence,
    name: 'a writer that is newer does not stop an older reader',
    find: 'AND f.token <= excluded.floor',
    replace: '',
    why: 'a reader that lost the lock reads what is half written',
  },
  {
    ...fence,
    name: 'entering does not raise the fence',
    find: 'DO UPDATE SET token = excluded.token\nWHERE',
    replace: 'DO UPDATE SET token = f.token\nWHERE',
    why: 'an old holder writes after a new one',
  },
  {
    ...fence,
    name: 'an older reader lowers the floor',
    find: 'floor = CASE WHEN f.floor > excluded.floor THEN f.floor ELSE excluded.floor END',
    replace: 'floor = excluded.floor',
    why: 'what a reader has read is changed by a holder that lost the lock before',
  },
  {
    ...fence,
    name: 'tokens of different stores are compared',
    find: 'WHERE f.lineage = excluded.lineage AND f.token <= excluded.token',
    replace: 'WHERE f.token <= excluded.token',
    why: 'after a store was reset, an old holder passes the fence',
  },
  {
    ...entry,
    name: 'the fence may be entered outside of a transaction',
    find: 'rows.checkTransaction(connection);\n      checkKind',
    replace: 'checkKind',
    why: 'the fence is raised, and the write that it protects is not behind it',
  },
  {
    file: 'src/fence/entering.ts',
    name: 'permits may be fenced',
    find: "if (kind === 'permits') {",
    replace: "if (kind === undefined && kind === 'permits') {",
    why: 'equal holders refuse each other',
  },
  {
    ...etcd,
    name: 'in etcd, a write does not compare the fence',
    find: 'const fenced: Txn = { compare,',
    replace: 'const fenced: Txn = { compare: [],',
    why: 'an old holder writes after a new one has entered',
  },
  {
    ...etcd,
    name: 'in etcd, the fence is raised without a look at who entered meanwhile',
    find: '...{ compare: [unchanged], success',
    replace: '...{ success',
    why: 'an older holder lowers the fence, and writes',
  },
  {
    ...etcd,
    name: 'in etcd, an entry is not the revision of its own',
    find: 'return { ...unchanged, to: reply.revision };',
    replace: "return { ...unchanged, is: '>', to: 0n };",
    why: 'the comparison is true for ever',
  },
  {
    ...zookeeper,
    name: 'in ZooKeeper, a write does not check the fence',
    find: 'await session.multi([...check, ...steps], within)).slice(check.length)',
    replace: 'await session.multi(steps, within))',
    why: 'an old holder writes after a new one has entered',
  },
  {
    ...zookeeper,
    name: 'in ZooKeeper, the fence is set whatever its version is',
    find: "const once = { step: 'set', path, data, version } as const;",
    replace: "const once = { step: 'set', path, data, version: undefined } as const;",
    why: 'an older holder lowers the fence, and writes',
  },
  {
    ...zookeeper,
    name: 'in ZooKeeper, an entry whose reply is lost is not made again',
    find: "return raced || failedWith(error, 'CONNECTIONLOSS');",
    replace: 'return raced;',
    why: 'a connection that breaks for a moment ends the work of a hold',
  },
  {
    ...zookeeper,
    name: 'in ZooKeeper, the version -1 is not passed over',
    find: 'version === -2 ?',
    replace: 'version === undefined ?',
    why: 'after four thousand million entries, one of an old holder checks nothing',
  },
  {
    ...zookeeper,
    name: "in ZooKeeper, a refusal of the caller's own step is told as a stale token",
    find: 'throw error.step === 0 && stale ?',
    replace: 'throw stale ?',
    why: 'a holder believes that it is too late, and stops',
  },
  {
    file: 'src/fence/raising.ts',
    name: 'in ZooKeeper, a reader lets in a writer that is older',
    find: '|| (!reads && seen.floor > token)',
    replace: '',
    why: 'what a reader has read is changed by a holder that lost the lock before',
  },
  {
    ...redisCheck,
    name: 'in Redis, a write does not compare the entry',
    find: 'if seen[1] ~= entry or seen[2] ~= token then',
    replace: 'if false then',
    why: 'an old holder writes after a new one has entered',
  },
  {
    ...redisCheck,
    name: 'in Redis, a request that comes twice is carried out twice',
    find: 'if tonumber(seen[3]) >= tonumber(seq) then',
    replace: 'if tonumber(seen[3]) > tonumber(seq) then',
    why: 'what a client sends again is sold twice',
  },
  {
    ...redisCheck,
    name: 'in Redis, the number of a request is not kept',
    find: "redis.call('HSET', key, 'seq', seq)",
    replace: '',
    why: 'a write that was held up undoes what came after it',
  },
  {
    ...redisEnter,
    name: 'in Redis, an older token may enter',
    find: ' or highest > token or ',
    replace: ' or ',
    why: 'an old holder lowers the fence, and writes',
  },
  {
    ...redisEnter,
    name: 'in Redis, a reader lets in a writer that is older',
    find: "or (how == 'w' and floor > token)",
    replace: '',
    why: 'what a reader has read is changed by a holder that lost the lock before',
  },
  {
    ...redisEnter,
    name: 'in Redis, entries are counted, not timed',
    find: 'math.max(now[1] * 1000000 + now[2], last + 1)',
    replace: 'last + 1',
    why: 'an entry of a fence that was deleted since writes through the next one',
  },
  {
    ...redisEntry,
    name: 'in Redis, requests of one entry leave all at once',
    find: 'last.then(() => send(script, keys, texts))',
    replace: 'send(script, keys, texts)',
    why: 'a holder in its right is told that a request of its own was late',
  },
  {
    file: 'src/fence/redis-fence.ts',
    name: 'in Redis, tokens are compared as texts of different length',
    find: "padStart(19, '0')",
    replace: "padStart(1, '0')",
    why: 'with the tenth token, the lock is lost to all that come',
  },
  {
    ...object,
    name: 'of objects, an entry does not look at the tokens before it',
    find: '(known) => raised(token, known)',
    replace: '(known) => raised(token, known && undefined)',
    why: 'an old holder enters after a new one, and writes',
  },
  {
    ...object,
    name: 'of objects, a write goes onto whatever is there',
    find: 'if (!put.found || !late?.mark || !earlier) throw',
    replace: 'if (!put.found || !late?.mark) throw',
    why: 'an old holder writes after a new one has entered',
  },
  {
    ...object,
    name: 'of objects, what was changed past the fence counts as our own',
    find: ' && late.mark.seq > place.mark.seq',
    replace: '',
    why: "an operator's change is overwritten",
  },
  {
    ...request,
    name: 'of objects, a write whose reply is lost is not known again',
    find: 'if (found && isOwn(found))',
    replace: 'if (found && found.text === undefined && isOwn(found))',
    why: 'a holder in its right is told that it is too late',
  },
  {
    ...request,
    name: 'of objects, an ETag that stays the same is taken',
    find: 'if (etag !== before) return etag;',
    replace: "if (etag !== before || etag !== '') return etag;",
    why: 'with the fence in metadata, a late write passes',
  },
  {
    ...request,
    name: 'of objects, a lost reply is forgotten when the next one refuses',
    find: "inDoubt ||= fate === 'unknown';",
    replace: "inDoubt = fate === 'unknown';",
    why: 'a program believes that nothing was written, and it was',
  },
  {
    ...headers,
    name: 'headers of a lease: a signature of nothing is taken',
    find: "const given = Buffer.from(signature ?? '');",
    replace: "const given = Buffer.from(signature ?? signatureOf(parts, secrets[0] ?? ''));",
    why: 'anybody locks all others out',
  },
  {
    ...headers,
    name: 'headers of a lease: the lineage is not signed',
    find: "['holdfast-fence 1', ...PARTS.map((part) => parts[part])]",
    replace: "['holdfast-fence 1', parts.resource, parts.kind, parts.token]",
    why: 'a token of one store is passed off as one of another',
  },
  {
    ...headers,
    name: 'headers of a lease: a name may be encoded in many ways',
    find: 'if (encodeURIComponent(name) === text) return name;',
    replace: 'return name;',
    why: 'what is two texts to a proxy is one to the service',
  },
];
