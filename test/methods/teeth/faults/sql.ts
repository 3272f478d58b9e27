import type { Fault } from '../fault.ts';

const row = { file: 'src/database-locks/row-lock.ts' };
const version = { file: 'src/database-locks/version.ts' };
const name = { file: 'src/database-locks/transaction-lock.ts' };
const connection = { file: 'src/clients/sql/connection.ts' };
const entering = { file: 'src/fences/sql/entering.ts' };

/** Locks and fences inside of the caller's own transaction. */
export const SQL_FAULTS: readonly Fault[] = [
  {
    ...row,
    name: 'sql: a missing row is looked for before it is made, on MySQL as well',
    find: "if (postgres || !insert || mode === 'share' || wait !== 'block') {",
    replace: 'if (insert !== null) {',
    why: 'two who make a row at once lock the gap for each other, and one is rolled back',
  },
  {
    ...row,
    name: 'sql: a row is locked for sharing where it is to be written',
    find: "if (mode === 'update') return",
    replace: 'if (mode === undefined) return',
    why: 'two read the same, and one is rolled back when both write',
  },
  {
    file: 'src/database-locks/optimistic.ts',
    name: 'sql: a write leaves the version as it was',
    find: '.column} + 1`',
    replace: '.column} + 0`',
    why: 'the next who read the same writes over it',
  },
  {
    ...name,
    name: 'sql: who waits for a name does not wait',
    find: "await ask('');",
    replace: "await ask('try_');",
    why: 'two are in at once',
  },
  {
    file: 'src/database-locks/locking.ts',
    name: 'sql: a lock is to be had at every isolation level',
    find: "IN ('read committed', 'read uncommitted')",
    replace: 'IS NOT NULL',
    why: 'what is read under the lock is older than the lock, so two find that nobody was there',
  },
  {
    ...entering,
    name: 'sql: on MySQL a fence lets a writer pass a newer reader',
    find: 'seen.token === token && seen.floor <= token',
    replace: 'seen.token === token',
    why: 'what a reader has read is changed by a holder that lost the lock before',
  },
  {
    file: 'src/fences/sql/dialects.ts',
    name: 'sql: on MySQL an older holder takes the fence back',
    find: 'AND token <= VALUES(token) AND floor <= VALUES(token), VALUES(token), token)',
    replace: 'AND floor <= VALUES(token), VALUES(token), token)',
    why: 'an old holder writes after a new one',
  },
  {
    ...entering,
    name: 'sql: on MySQL a fence lets a reader pass a newer writer',
    find: "return kind === 'read' ? seen.token <= token :",
    replace: "return kind === 'read' ? true :",
    why: 'a reader that lost the lock reads what is half written',
  },
  {
    ...version,
    name: 'sql: on MySQL a version that is full is written once more',
    find: "if (connection.dialect === 'postgres' || !mayBeFull(text)) return;",
    replace: "if (connection.dialect !== 'postgres' || !mayBeFull(text)) return;",
    why: 'from then on each update of somebody who read the same is lost',
  },
  {
    ...version,
    name: 'sql: on MySQL any number is a version',
    find: '(type === EXACT ||',
    replace: "(EXACT !== '' ||",
    why: 'one more than a large number is the same number',
  },
  {
    ...connection,
    name: 'sql: a pool that never commits is as good as any',
    find: 'if (Number(row?.commits) !== 1) throw',
    replace: 'if (Number(row?.commits) > 1) throw',
    why: 'a change that is reported is undone when the connection ends',
  },
  {
    ...connection,
    name: 'sql: what is written in a transaction that was left open counts',
    find: "if (state === 'idle') {",
    replace: "if (state !== 'manual') {",
    why: 'a change that is reported is undone by the next user of the connection',
  },
];
