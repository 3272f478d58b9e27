import type { Fault } from '../fault.ts';

const schema = { file: 'src/stores/mysql/schema.sql' };
const bell = { file: 'src/stores/mysql/bell.ts' };
const errors = { file: 'src/stores/mysql/errors.ts' };
const source = { file: 'src/stores/mysql/source.ts' };

/** What the procedures of MySQL can get wrong, and who calls them and is rung by them. */
export const MYSQL_FAULTS: readonly Fault[] = [
  {
    ...schema,
    name: 'mysql: the time is that before the wait for the lock',
    find: `    CALL holdfast_micros(_now);
    WHILE _i < JSON_LENGTH(_claims) DO
      IF JSON_EXTRACT(_answers, CONCAT('$."', _i + 1, '"')) IS NULL THEN
        SELECT CAST(`,
    replace: `    WHILE _i < JSON_LENGTH(_claims) DO
      IF JSON_EXTRACT(_answers, CONCAT('$."', _i + 1, '"')) IS NULL THEN
        SELECT CAST(`,
    why: 'whoever waited for a lock of the database is taken to live in the past',
  },
  {
    ...schema,
    name: 'mysql: nobody looks for tombstones',
    find: 'IF _graves > _now THEN',
    replace: 'IF FALSE THEN',
    why: 'a late copy of a claim that was released holds until its TTL ends',
  },
  {
    ...schema,
    name: 'mysql: a release that overtakes its claim leaves no tombstone',
    find: 'IF _number IS NULL OR _unanswered THEN',
    replace: 'IF _number IS NOT NULL AND _unanswered THEN',
    why: 'the claim comes after all, and holds until its TTL ends',
  },
  {
    ...schema,
    name: 'mysql: a batch waits for one row while it has others',
    find: 'FOR UPDATE /*!80000 OF r */ SKIP LOCKED',
    replace: 'FOR UPDATE /*!80000 OF r */',
    why: 'a row that somebody keeps locked costs leases that have nothing to do with it',
  },
  {
    ...schema,
    name: 'mysql: a heartbeat revives what is dead',
    find: 'IF(holdfast_resource.id = c.id AND expires > _now, _call, done_by)',
    replace: 'IF(holdfast_resource.id = c.id, _call, done_by)',
    why: 'a hold that has ended comes back, unnoticed by whoever saw it end',
  },
  {
    ...schema,
    name: 'mysql: anybody releases',
    find: 'IF(holdfast_resource.id = c.id AND expires > _now AND NOT c.unanswered',
    replace: 'IF(holdfast_resource.id IS NOT NULL AND expires > _now AND NOT c.unanswered',
    why: 'a late release takes the lock from another holder',
  },
  {
    ...schema,
    name: 'mysql: whoever asks first is let in past those who wait',
    find: 'SET _admitted = (_now >= _open_at OR _trusts) AND _waiters = 0\n',
    replace: 'SET _admitted = _now >= _open_at\n',
    why: 'a writer waits for ever while readers come and go',
  },
  {
    ...schema,
    name: 'mysql: who waits is not counted',
    find: 'waiters = _waiters + IF(_admitted, 0, 1)',
    replace: 'waiters = _waiters',
    why: 'a queue has no bound, and others are let in past it',
  },
  {
    ...schema,
    name: 'mysql: what is swept away leaves no number behind',
    find: 's.open_at, s.highest,',
    replace: 's.open_at, 0,',
    why: 'when the clock goes back, a later holder has a smaller token',
  },
  {
    ...schema,
    name: 'mysql: the witness is not looked at',
    find: 's.history = @holdfast_history AND',
    replace: 's.history = s.history AND',
    why: 'after a loss of data two hold the same lock',
  },
  {
    ...schema,
    name: 'mysql: another server counts as no loss',
    find: "OR SUBSTRING(_before, LOCATE(' ', _before))",
    replace: "AND '' = SUBSTRING(_before, LOCATE(' ', _before))",
    why: 'after a fail-over two hold what only the old primary had granted',
  },
  {
    ...schema,
    name: 'mysql: only what was recorded tells that commits are not waited for',
    find: 'IF _was_fast OR _fast\n',
    replace: 'IF _was_fast\n',
    why: 'after a crash that lost the record, too, two hold what was not on disk',
  },
  {
    ...schema,
    name: 'mysql: a loss is waited out for the longest claim of who finds it',
    find: "SET _max_ttl = GREATEST(_max_ttl, JSON_EXTRACT(_settings, '$.maxTtl') * 1000),",
    replace: "SET _max_ttl = JSON_EXTRACT(_settings, '$.maxTtl') * 1000,",
    why: 'a program with longer claims still believes when the next holder comes',
  },
  {
    ...schema,
    name: 'mysql: who waits for a lock waits as long as it takes',
    find: 'SET SESSION innodb_lock_wait_timeout = _patience;',
    replace: 'SET SESSION innodb_lock_wait_timeout = 10;',
    why: 'one stopped session keeps everybody’s heartbeats from the server',
  },
  {
    ...schema,
    name: 'mysql: a server that is read-only is not refused',
    find: "IF CAST(@@global.read_only AS CHAR) NOT IN ('0', 'OFF') THEN",
    replace: 'IF FALSE THEN',
    why: 'a primary that was set aside goes on granting to whoever may do everything',
  },
  {
    ...schema,
    name: 'mysql: a claim that comes alone does not look for tombstones',
    find: 'AND ended IS NULL AND graves <= _now;',
    replace: 'AND ended IS NULL;',
    why: 'a late copy of a claim that was released holds until its TTL ends',
  },
  {
    ...schema,
    name: 'mysql: a release that comes alone is anybody’s',
    find: 'SET id = NULL WHERE name = _name AND id = _id AND expires > _now;',
    replace: 'SET id = NULL WHERE name = _name AND id IS NOT NULL AND expires > _now;',
    why: 'a late release takes the lock from another holder',
  },
  {
    ...schema,
    name: 'mysql: the short way into a queue passes by a dead holder',
    find: `IF NOT _present
    AND LEAST(_expires, COALESCE(_first, _expires), COALESCE(_before, _expires)) > _now THEN`,
    replace: 'IF NOT _present THEN',
    why: 'whoever comes does not let in who has waited for that death',
  },
  {
    ...schema,
    name: 'mysql: the short way out of a queue lets in the dead',
    find: 'IF _expires <= _now OR _next_expires <= _now OR',
    replace: 'IF',
    why: 'everybody waits until somebody finds that who holds has long been dead',
  },
  {
    ...schema,
    name: 'mysql: who is let in is rung, and finds no news',
    find: 'SET admitted = TRUE, ended = _ended, ended_by = _ended_by, news = _news',
    replace: 'SET admitted = TRUE, ended = _ended, ended_by = _ended_by',
    why: 'every hand-off waits for a heartbeat',
  },
  {
    ...schema,
    name: 'mysql: who was evicted is not told',
    find: 'UPDATE holdfast_grave SET address = _address, tag = _tag, news = _news WHERE id = _id;',
    replace: '',
    why: 'somebody evicted goes on until the next heartbeat, beside the next holder',
  },
  {
    ...bell,
    name: 'mysql: a commit that took long is not looked for',
    find: 'look(now - BACK, WAIT_S)',
    replace: 'look(now, WAIT_S)',
    why: 'on a busy server a hand-off waits for a heartbeat',
  },
  {
    ...bell,
    name: 'mysql: whoever is rung takes it for a broken connection',
    find: 'if (!RUNG.includes(numberOf(error))) throw error;',
    replace: 'throw error;',
    why: 'a new connection for every hand-off',
  },
  {
    ...errors,
    name: 'mysql: a lock that was not got in time leaves it open what happened',
    find: "      retryable: true,\n      advice:\n        'could not lock a row",
    replace:
      "      retryable: true,\n      outcome: 'unknown',\n      advice:\n" +
      "        'could not lock a row",
    why: 'a try that has surely failed is looked after as if it held',
  },
  {
    ...errors,
    name: 'mysql: a call that was stopped has surely not happened',
    find: "outcome: 'unknown',\n  advice: 'stopped the call",
    replace: "advice: 'stopped the call",
    why: 'a claim that was committed all the same holds until its TTL ends',
  },
  {
    ...source,
    name: 'mysql: whoever loses a deadlock is told so at once',
    find: 'numberOf(error) !== DEADLOCK || tries <= 1',
    replace: 'numberOf(error) !== DEADLOCK || tries > 0',
    why: 'a transaction of somebody else makes a program fail that could go on',
  },
  {
    ...source,
    name: 'mysql: NULL of GET_LOCK counts as the lock',
    find: "if (held !== '1')",
    replace: "if (held === '0')",
    why: 'the bell rings for nobody, and every hand-off waits for a heartbeat',
  },
  {
    ...schema,
    name: 'mysql: a waiter may keep a record',
    find: 'WHERE c.id = _id AND c.resource = _name AND c.admitted = TRUE AND c.expires > _now',
    replace: 'WHERE c.id = _id AND c.resource = _name AND c.expires > _now',
    why: 'work is taken for done by somebody who has not done it',
  },
  {
    ...schema,
    name: 'mysql: records that are over stay',
    find: '  CALL holdfast_forget(_now, 2);\n',
    replace: '',
    why: 'the table grows for ever',
  },
];
