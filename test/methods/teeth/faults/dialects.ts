import type { Fault } from '../fault.ts';

const rows = { file: 'src/interop/rows/row-store.ts' };
const statements = { file: 'src/interop/rows/statements.ts' };
const columns = { file: 'src/clients/sql/columns.ts' };
const shedlock = { file: 'src/interop/shedlock/layout.ts' };
const shedlockRedis = { file: 'src/interop/shedlock/index.ts' };
const spring = { file: 'src/interop/spring/layout.ts' };
const lockKey = { file: 'src/interop/spring/lock-key.ts' };
const springRedis = { file: 'src/interop/spring/index.ts' };
const keys = { file: 'src/stores/redis/plain-store.ts' };
const plain = { file: 'src/stores/redis/lua/plain.lua' };

const TWO = 'a program in Java and one of ours hold the same lock';
const APART = 'programs in Java and ours do not exclude each other';

/** Where other libraries have their locks, and what they take for held. */
export const DIALECT_FAULTS: readonly Fault[] = [
  {
    ...rows,
    name: 'rows: an end is written as if all clocks were one',
    find: 'return ms + this.#parts.skewMs - this.#parts.layout.addsMs;',
    replace: 'return ms - this.#parts.layout.addsMs;',
    why: TWO,
  },
  {
    ...rows,
    name: "rows: another's lease is over as soon as our clock says so",
    find: 'this.#endIn(ttlMs), -skewMs - layout.addsMs)',
    replace: 'this.#endIn(ttlMs), -layout.addsMs)',
    why: TWO,
  },
  {
    ...columns,
    name: 'columns: what a session compares in its own time zone is taken',
    find: `row.type === 'timestamp with time zone'`,
    replace: 'row.type === 0',
    why: 'sessions in two zones hold the same lock',
  },
  {
    ...columns,
    name: 'columns: whole seconds are enough',
    find: 'const LEAST_PRECISION = 3;',
    replace: 'const LEAST_PRECISION = 0;',
    why: 'a lease is over before its time for another program',
  },
  {
    ...columns,
    name: 'columns: a zone of MySQL may have summer time',
    find: `row.offsets).split(' ')).size > 1`,
    replace: `row.offsets).split(' ')).size > 27`,
    why: 'a released lock stays taken for an hour, or no verb works',
  },
  {
    ...statements,
    name: 'rows: PostgreSQL takes a row over before its end',
    find: `WHERE held.\${until} < \${shifted}\``,
    replace: `WHERE held.\${until} < \${shifted} OR true\``,
    why: TWO,
  },
  {
    ...statements,
    name: 'rows: MySQL takes a row over before its end',
    find: `WHERE \${where} AND \${until} < \${shifted}\``,
    replace: `WHERE \${where} AND (\${until} < \${shifted} OR true)\``,
    why: TWO,
  },
  {
    ...statements,
    name: 'rows: a heartbeat and a release name no holder',
    find: `const own = \`\${where} AND \${holder} = ?\``,
    replace: `const own = \`\${where} AND ? <> ''\``,
    why: "a lock of another program is prolonged, or given back in its holder's place",
  },
  {
    ...statements,
    name: 'rows: a heartbeat revives a lease that has ended',
    find: `SET \${until} = \${shifted} WHERE \${own} AND \${alive}`,
    replace: `SET \${until} = \${shifted} WHERE \${own} AND (\${alive} OR true)`,
    why: TWO,
  },
  {
    ...shedlock,
    name: 'shedlock: two claims of a process are one holder',
    find: `writes: (claim) => \`\${processOf(claim)}:\${claim.id}\``,
    replace: `writes: (claim) => \`\${processOf(claim)}:\${claim.id.length}\``,
    why: 'two tasks of a process hold the same lock',
  },
  {
    ...shedlock,
    name: 'shedlock: a row is deleted when its lock is free',
    find: 'stays: true',
    replace: 'stays: false',
    why: 'ShedLock, which remembers that there is a row, never gets the lock again',
  },
  {
    ...shedlock,
    name: 'shedlock: a name may be longer than its column',
    find: 'fitting(nameOf(resource), NAME_ROOM,',
    replace: 'fitting(nameOf(resource), 640,',
    why: 'MySQL cuts two names to the same one',
  },
  {
    ...shedlock,
    name: 'shedlock: a lock that is kept after its release can still be renewed',
    find: `\`\${processOf(claim)}:released\``,
    replace: `\`\${processOf(claim)}:\${claim.id}\``,
    why: 'a late heartbeat prolongs a lock that was given back',
  },
  {
    ...shedlockRedis,
    name: 'shedlock: keys have no environment',
    find: `\`\${keyPrefix}:\${environment}:\${name(lock)}\``,
    replace: `\`\${keyPrefix}:\${name(lock)}\``,
    why: APART,
  },
  {
    ...spring,
    name: 'spring: before 7, a row ends when it was renewed',
    find: "{ until: 'CREATED_DATE', addsMs: timeToLiveMs }",
    replace: "{ until: 'CREATED_DATE', addsMs: 0 }",
    why: 'Java waits for too long after a crash, and ours take what Java holds',
  },
  {
    ...lockKey,
    name: "spring: the key of a name is not Java's",
    find: '& 0x0f) | 0x30',
    replace: '& 0x0f) | 0x40',
    why: APART,
  },
  {
    ...lockKey,
    name: 'spring: a UUID in capitals has another key',
    find: 'return name.toLowerCase()',
    replace: 'return name',
    why: APART,
  },
  {
    ...springRedis,
    name: 'spring: keys of Redis are not those of the registry',
    find: `\`\${registryKey}:\${name}\``,
    replace: `\`\${registryKey}.\${name}\``,
    why: APART,
  },
  {
    ...springRedis,
    name: 'spring: nothing listens on the channel of releases',
    find: `\`\${registryKey}-channel:\``,
    replace: `\`\${registryKey}-channels:\``,
    why: 'waiters in Java sleep until the lease would have ended',
  },
  {
    ...plain,
    name: 'redis plain: a release is not published to registries of Spring',
    find: 'if PUBLISHES then',
    replace: 'if PUBLISHES == nil then',
    why: 'waiters in Java sleep until the lease would have ended',
  },
  {
    ...keys,
    name: 'redis plain: a message wakes nobody',
    find: "wake, 'cluster')",
    replace: "() => {}, 'cluster')",
    why: 'a lock that is free stays so until the next try',
  },
];
