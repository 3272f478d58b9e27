import type { Fault } from '../fault.ts';

const fence = { file: 'src/fence/statements.ts' };
const entry = { file: 'src/fence/sql-fence.ts' };
const etcd = { file: 'src/fence/etcd-fence.ts' };
const zookeeper = { file: 'src/fence/zookeeper-fence.ts' };

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
];
