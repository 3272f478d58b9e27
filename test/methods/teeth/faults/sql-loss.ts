import type { Fault } from '../fault.ts';

const claims = { file: 'src/queue/claims.ts' };
const row = { file: 'src/stores/sql/row.ts' };
const holding = { file: 'src/stores/mysql/holding.ts' };
const CACHE = 'a cache in the same database makes two hold the same lock';
const LATE = 'whoever trusts waits for a quarantine that it wanted to pass over';

/** What programs that trust after a loss of data do to those that wait, and to each other. */
export const SQL_LOSS_FAULTS: readonly Fault[] = [
  {
    ...claims,
    name: 'postgres: whoever makes way lets in who waits for the quarantine',
    find: 'if (!(open || first.trusts) || admissible',
    replace: 'if (admissible',
    why: CACHE,
  },
  {
    ...row,
    name: 'postgres: a claim that joins others does not say that it trusts',
    find: "entry.trusts = trusts === 't';",
    replace: 'entry.trusts = trusts === undefined;',
    why: LATE,
  },
  {
    ...holding,
    name: 'mysql: whoever makes way lets in who waits for the quarantine',
    find: `WHERE s.only_row = TRUE AND \${intact(known)} AND s.open_at <= \${NOW}`,
    replace: 'WHERE s.only_row = TRUE',
    why: CACHE,
  },
  {
    ...holding,
    name: 'mysql: a claim that joins others does not say that it trusts',
    find: '[args[6], args[10]]',
    replace: `[args[6], 'f']`,
    why: LATE,
  },
];
