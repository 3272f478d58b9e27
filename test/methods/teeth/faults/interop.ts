import { type Faults, inTest } from '../fault.ts';

const kinds = { file: 'src/interop/redisson/lua/kinds.lua' };
const statements = { file: 'src/interop/rows/statements.ts' };

const KINDS = 'test/interop/redisson/kinds.test.ts';
const FOREIGN = 'test/interop/rows/foreign.test.ts';
const OPTIONS = 'test/interop/rows/options.test.ts';
const READ_WRITE = [KINDS, 'a read-write lock'] as const;
const POSTGRES = [FOREIGN, 'PostgreSQL'] as const;
const COLUMNS = 'test/interop/rows/columns.test.ts';

const TWO = 'a program in Java and one of ours hold the same lock';

/** Where other libraries have their locks, and when they take them for free. */
export const INTEROP_FAULTS: Faults = {
  'Redisson: what has just been made lasts for ever': {
    file: 'src/interop/redisson/lua/layout.lua',
    find: "math.max(call('PTTL', key), ttl)",
    replace: 'math.max(leftOf(key), ttl)',
    why: 'a reader that dies alone keeps writers out for weeks',
    by: inTest(...READ_WRITE, 'is free for writers of both sides once its only reader has died'),
  },
  'Redisson: a lock in use is entered': {
    ...kinds,
    find: "return false end\n  call('HSET', c.key, c.owner, 1)",
    replace: "end\n  call('HSET', c.key, c.owner, 1)",
    why: 'two hold it',
    by: inTest(KINDS, 'a mutex', 'entered twice in Java is free once it was left twice'),
  },
  'Redisson: a lock has no end': {
    ...kinds,
    find: "  call('HSET', c.key, c.owner, 1)\n  call('PEXPIRE', c.key, c.ttl)",
    replace: "  call('HSET', c.key, c.owner, 1)",
    why: 'a crash keeps it for ever, and waiters in Java sleep without an end',
    by: inTest(KINDS, 'a mutex', 'never lacks an end, and leaves only the record of the store'),
  },
  'Redisson: the first reader to leave takes all along': {
    ...kinds,
    find: '  if left > 0 then',
    replace: '  if false then',
    why: 'a writer comes in while others read',
    by: inTest(
      ...READ_WRITE,
      'lets readers of both sides in together, and wakes the writer with the last',
    ),
  },
  'Redisson: permits of the dead are not taken back': {
    ...kinds,
    find: 'more(c, #over)',
    replace: 'more(c, 0)',
    why: 'each crash makes the semaphore smaller for ever',
    by: inTest(KINDS, 'a permit-expirable semaphore', 'takes the permits of the dead back'),
  },
  'rows: an end is written as if all clocks were one': {
    file: 'src/interop/rows/row-store.ts',
    find: 'return ms + this.#parts.skewMs - this.#parts.layout.addsMs;',
    replace: 'return ms - this.#parts.layout.addsMs;',
    why: TWO,
    by: inTest(
      ...POSTGRES,
      'clocks may differ: ours ends later than its lease, and theirs is over later',
    ),
  },
  'columns: what a session compares in its own time zone is taken': {
    file: 'src/clients/sql/columns.ts',
    find: `row.type === 'timestamp with time zone'`,
    replace: 'row.type === 0',
    why: 'sessions in two zones hold the same lock',
    by: inTest(COLUMNS, 'PostgreSQL with pg', 'a zone'),
  },
  'rows: MySQL compares an end in the zone of any session': {
    ...statements,
    find: 'const now = offset === undefined ? NOW[dialect] : nowAt(offset);',
    replace: 'const now = NOW[dialect];',
    why: TWO,
    by: inTest(COLUMNS, 'MariaDB with mysql2', 'a session of another offset than the first'),
  },
  'rows: PostgreSQL takes a row over before its end': {
    ...statements,
    find: `WHERE held.\${until} < \${shifted}\``,
    replace: `WHERE held.\${until} < \${shifted} OR true\``,
    why: TWO,
    by: inTest(...POSTGRES, 'what another holds is waited for, and taken over once it has ended'),
  },
  'rows: MySQL takes a row over before its end': {
    ...statements,
    find: `WHERE \${where} AND \${until} < \${shifted}\``,
    replace: `WHERE \${where} AND (\${until} < \${shifted} OR true)\``,
    why: TWO,
    by: inTest(
      FOREIGN,
      'MariaDB',
      'what another holds is waited for, and taken over once it has ended',
    ),
  },
  'rows: a heartbeat and a release name no holder': {
    ...statements,
    find: `const own = \`\${where} AND \${holder} = ?\``,
    replace: `const own = \`\${where} AND ? <> ''\``,
    why: "a lock of another program is prolonged, or given back in its holder's place",
    by: inTest(...POSTGRES, 'two claims of one process are two owners'),
  },
  'shedlock: two claims of a process are one holder': {
    file: 'src/interop/shedlock/layout.ts',
    find: `writes: (claim) => \`\${processOf(claim)}:\${claim.id}\``,
    replace: `writes: (claim) => \`\${processOf(claim)}:\${claim.id.length}\``,
    why: 'two tasks of a process hold the same lock',
    by: inTest(OPTIONS, 'rows', 'of ShedLock show host and process, and stay'),
  },
  "spring: the key of a name is not Java's": {
    file: 'src/interop/spring/layout.ts',
    find: '& 0x0f) | 0x30',
    replace: '& 0x0f) | 0x40',
    why: 'programs in Java and ours do not exclude each other',
    by: inTest(OPTIONS, 'the key of foo is that of Java'),
  },
};
