import { type Faults, inTest } from '../fault.ts';

const row = { file: 'src/stores/sql/row.ts' };
const rowStore = { file: 'src/stores/sql/row-store.ts' };

const PG = 'test/stores/postgres/conformance/pg.test.ts';

/** What all databases share, and locks of a program on its own rows. */
export const SQL_FAULTS: Faults = {
  'postgres: a row is plain whatever its waiters want': {
    ...row,
    find: 'return same && !each.admitted && !each.sealed;',
    replace: 'return !each.admitted && !each.sealed;',
    why: 'a waiter comes in as another kind of claim',
    by: inTest(PG, 'permits: one departure may admit several'),
  },
  'postgres: the row forgets its tombstones': {
    ...row,
    find: 'const remembers = unfinished !== undefined || [...tombstones].length > 0;',
    replace: 'const remembers = unfinished !== undefined;',
    why: 'a late copy of a claim that was released holds until its TTL ends',
    by: inTest(PG, 'release: a claim that arrives after its release is refused for good'),
  },
  'postgres: a step is believed before it is written': {
    file: 'src/stores/sql/applying.ts',
    find: '!made.get(name)?.write || written.includes(name)',
    replace: 'made.has(name)',
    why: 'two hold the same lock',
    by: inTest(
      'test/stores/sql/applying.test.ts',
      'a row that always changes before the write is changed in line after some races',
    ),
  },
  'postgres: each statement of a claim has the whole ttl for its turn': {
    ...rowStore,
    find: 'sinceMs: clock.now() - since',
    replace: 'sinceMs: 0 * (clock.now() - since)',
    why: 'a claim that was given up is made after the tombstone of its release, for nobody',
    by: inTest(
      'test/stores/sql/row-store.test.ts',
      'all statements of a claim are sent within its ttl',
    ),
  },
  'postgres: a claim that is over may keep a record': {
    ...rowStore,
    find: 'if (!row || !queue.keep(',
    replace: 'if (!row || queue.keep(',
    why: 'a program that stalled overwrites what the next one says',
    by: inTest(PG, 'keep and recall: a claim that does not hold keeps nothing: never entered'),
  },
  'postgres: whoever makes way lets in who waits for the quarantine': {
    file: 'src/queue/claims.ts',
    find: 'if (!(open || first.trusts) || admissible',
    replace: 'if (admissible',
    why: 'a cache in the same database makes two hold the same lock',
    by: inTest(
      'test/stores/postgres/durability.test.ts',
      'whoever trusted and waited before the loss is let in, and no other',
    ),
  },
  'sql: a write leaves the version as it was': {
    file: 'src/database-locks/optimistic.ts',
    find: '.column} + 1`',
    replace: '.column} + 0`',
    why: 'the next who read the same writes over it',
    by: inTest('test/database-locks/clients.test.ts', "'PostgreSQL'", 'pg', 'optimistic'),
  },
  'sql: who waits for a name does not wait': {
    file: 'src/database-locks/transaction-lock.ts',
    find: "await ask('');",
    replace: "await ask('try_');",
    why: 'two are in at once',
    by: inTest('test/database-locks/clients.test.ts', "'PostgreSQL'", 'pg', 'transactionLock'),
  },
  'sql: a lock is to be had at every isolation level': {
    file: 'src/database-locks/locking.ts',
    find: "IN ('read committed', 'read uncommitted')",
    replace: 'IS NOT NULL',
    why: 'what is read under the lock is older than the lock, so two find that nobody was there',
    by: {
      ...inTest(
        'test/database-locks/snapshots.test.ts',
        "'PostgreSQL'",
        'under a row that is there',
        'nobody is let in: repeatable read',
      ),
      hung: true,
    },
  },
  'sql: what is written in a transaction that was left open counts': {
    file: 'src/clients/sql/connection.ts',
    find: "if (state === 'idle') {",
    replace: "if (state !== 'manual') {",
    why: 'a change that is reported is undone by the next user of the connection',
    by: inTest(
      'test/database-locks/left-open.test.ts',
      "'PostgreSQL'",
      'pg',
      'open: changeState tells what is committed',
    ),
  },
};
