import type { Fault } from '../fault.ts';

const postgres = { file: 'src/stores/postgres/schema.sql' };
const mysql = { file: 'src/stores/mysql/schema.sql' };
const CACHE = 'a cache in the same database makes two hold the same lock';
const LATE = 'whoever trusts waits for a quarantine that it wanted to pass over';

/** What programs that trust after a loss of data do to those that wait, and to each other. */
export const SQL_LOSS_FAULTS: readonly Fault[] = [
  {
    ...postgres,
    name: 'postgres: whoever trusts ends the wait of all',
    find: '  IF lost THEN\n',
    replace: "  IF lost AND NOT (settings->>'trust')::boolean THEN\n",
    why: CACHE,
  },
  {
    ...postgres,
    name: 'postgres: whoever makes way lets in who waits for the quarantine',
    find: 'IF NOT (open OR next.trusts IS TRUE)\n      OR held.used',
    replace: 'IF held.used',
    why: CACHE,
  },
  {
    ...postgres,
    name: 'postgres: a claim that joins others does not say that it trusts',
    find: 'c.capacity, c.ttl, c.address, c.tag, c.holder, c.trusts)',
    replace: 'c.capacity, c.ttl, c.address, c.tag, c.holder, false)',
    why: LATE,
  },
  {
    ...mysql,
    name: 'mysql: whoever trusts ends the wait of all',
    find: '      SET _open_at = _now + _max_ttl;',
    replace: `      SET _open_at = IF(_settings LIKE '%"trust":true%', _open_at,
        _now + _max_ttl);`,
    why: CACHE,
  },
  {
    ...mysql,
    name: 'mysql: whoever makes way lets in who waits for the quarantine',
    find: 'IF _now < _open_at AND NOT _trusts\n      OR _used',
    replace: 'IF _used',
    why: CACHE,
  },
  {
    ...mysql,
    name: 'mysql: a claim that joins others does not say that it trusts',
    find: 'IF(_waiters = 0, 0, NULL), _trusts);',
    replace: 'IF(_waiters = 0, 0, NULL), FALSE);',
    why: LATE,
  },
];
