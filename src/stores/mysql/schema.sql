-- The queues of claims, and all that may be done with them: each verb is one call of one procedure.
--
-- Invariant: the admitted claims of a resource are a prefix of its living ones in order of arrival,
-- and after every call whoever was in somebody's way and is dead has gone and everybody who fits is
-- admitted (admission.ts). It holds because each verb locks the rows of all its resources first:
-- whatever concerns a resource happens under its row's lock. A batch takes those that are free and
-- waits for none (`take`); one claim alone waits for its row (`await`). One statement does what is
-- common, for the whole batch: to take an idle resource, or
-- to renew or release the only claim, which is kept in the resource's row itself, as of the moment
-- at which it began to wait for the lock: what was dead or idle then still is, and a life that is
-- counted from then ends too early if anything. The rest goes the long way, claim by claim, by a
-- clock that is read when all locks are there: each statement of a procedure has a time and a
-- snapshot of its own. The time is UTC, whatever the zone of the session. One claim alone (`_one`)
-- needs no batch for that. A mutex whose queue is in order has a short way (`join`, `pass`), which
-- does what the long way would, and leaves to it whatever else there is to do.
-- Each call is a transaction of its own at READ COMMITTED, in which no gap is locked: there is no
-- unique index but primary keys, rows are locked by their whole primary key, and all else is read
-- without locks, by statements that only read (a subquery of IF or SET would lock). So the store's
-- own verbs cannot wait for each other in a circle. Answers are sent when it is committed, so that
-- no lock ever waits for a client to read them, and then those whom it concerns are woken: each
-- process waits in a call of its own, which `ring` interrupts.
-- Nothing costs more when more wait: the row counts the waiters, and only those in front are read.
-- After a loss of data each claim is let in when the wait is over, or if it trusts. A program that
-- trusts records the loss as others do, so it shortens nobody's wait: it only marks its own claims.
-- They pass nobody, for a place is a token, and the later holder must have the greater one: behind
-- a claim that waits all wait, those that trust as well, readers behind readers, permits that fit.
-- What breaks it: a writer who does not take the lock of the resource first, or a commit that the
-- server forgets (`begin` notices that and makes everybody wait).
-- Programs may call everything (EXECUTE on the schema), so only the verbs run as the user who made
-- them (DEFINER). What they call in turn has the rights of its caller (INVOKER): inside of a verb
-- those of that user, and otherwise those of a program, which may not touch the tables. Callers
-- choose the names of channels, so `ring` interrupts only who listens, and nothing ends a session.
-- Times are µs since 1970 by the server's clock. A number is place, token and public name in one.
DELIMITER //

SET NAMES utf8mb4 //
SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION' //

CREATE TABLE IF NOT EXISTS holdfast_store (
  only_row BOOLEAN PRIMARY KEY,
  layout INT NOT NULL,
  -- The longest ttl that any program may ask for, in µs: nothing outlives a loss of data by more.
  max_ttl BIGINT NOT NULL,
  -- Until then nothing is granted but to claims that trust.
  open_at BIGINT NOT NULL,
  -- Above the numbers of all resources that have been swept away.
  highest BIGINT NOT NULL,
  -- The server did not wait for its commits to be on disk.
  fast BOOLEAN NOT NULL,
  -- Where and since when the data is as it is (`history`): while that is so, nothing was lost.
  history VARCHAR(600) NOT NULL
) ENGINE = InnoDB, ROW_FORMAT = DYNAMIC, CHARACTER SET utf8mb4, COLLATE utf8mb4_bin //

DROP TABLE IF EXISTS holdfast_witness //

-- The second in which the server started, a blank, and whose data this is: of which schema, from
-- when on, in which server. The first differs after a restart; the rest on a replica, and in tables
-- that were made anew from a copy, there or elsewhere. All of it is read and nothing of it is kept
-- in memory, so it can neither be replicated nor be missing. No session outlives its server, so
-- each asks once when that started. Nothing is told before that second is over: a server that
-- started again within it would look the same.
DROP PROCEDURE IF EXISTS holdfast_history //
CREATE PROCEDURE holdfast_history() SQL SECURITY INVOKER
BEGIN
  IF @holdfast_start IS NULL THEN
    SELECT UNIX_TIMESTAMP() - CAST(g.variable_value AS SIGNED),
      IF(g.variable_value > 0, 0, 1 - MICROSECOND(UTC_TIMESTAMP(6)) / 1000000)
    INTO @holdfast_start, @holdfast_early
    FROM /*!80000 performance_schema.global_status */ /*M!100600 information_schema.global_status */
      AS g WHERE g.variable_name = 'Uptime';
    IF @holdfast_start IS NULL THEN
      SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'The server does not tell when it started';
    END IF;
    DO SLEEP(@holdfast_early);
  END IF;
  SELECT CONCAT_WS(' ', @holdfast_start, t.table_schema, UNIX_TIMESTAMP(t.create_time),
    /*!80000 @@server_uuid */ /*M!100600 @@hostname, @@port, @@server_id, @@datadir */)
  INTO @holdfast_history
  FROM information_schema.tables AS t
  WHERE t.table_schema = DATABASE() AND t.table_name = 'holdfast_store';
  SET @holdfast_asked = UTC_TIMESTAMP() + 0;
END //

-- What is new has lost nothing. The tables that are made next bring this to the disk with them,
-- also where commits are not waited for.
CALL holdfast_history() //
INSERT IGNORE INTO holdfast_store SELECT TRUE, 1, 0, 0, 0, FALSE, @holdfast_history //

CREATE TABLE IF NOT EXISTS holdfast_resource (
  name VARBINARY(1280) PRIMARY KEY,
  kind CHAR(1) NOT NULL,
  -- The last one that was drawn here.
  number BIGINT NOT NULL,
  -- The claims are in the table of claims; otherwise there is one at most, and it is here.
  crowd BOOLEAN NOT NULL DEFAULT FALSE,
  id CHAR(32),
  expires BIGINT,
  permits INT,
  capacity INT,
  ttl INT UNSIGNED,
  address VARCHAR(32),
  tag VARCHAR(32),
  holder TEXT CHARACTER SET utf8mb4,
  waiters INT NOT NULL DEFAULT 0,
  -- Some of its tombstones hold until then.
  graves BIGINT NOT NULL DEFAULT 0,
  -- How the last hold ended, where nobody holds.
  ended VARCHAR(8),
  ended_by BIGINT,
  -- The call that did to it what is common, and which of its claims.
  done_by BIGINT UNSIGNED NOT NULL DEFAULT 0
) ENGINE = InnoDB, ROW_FORMAT = DYNAMIC, CHARACTER SET ascii, COLLATE ascii_bin //

CREATE TABLE IF NOT EXISTS holdfast_claim (
  resource VARBINARY(1280) NOT NULL,
  number BIGINT NOT NULL,
  id CHAR(32) NOT NULL,
  admitted BOOLEAN NOT NULL,
  expires BIGINT NOT NULL,
  kind CHAR(1) NOT NULL,
  permits INT NOT NULL,
  capacity INT NOT NULL,
  ttl INT UNSIGNED NOT NULL,
  address VARCHAR(32) NOT NULL,
  tag VARCHAR(32) NOT NULL,
  holder TEXT CHARACTER SET utf8mb4 NOT NULL,
  -- Why it takes no more heartbeats.
  sealed VARCHAR(8),
  detail TEXT CHARACTER SET utf8mb4,
  -- How the hold before its own ended.
  ended VARCHAR(8),
  ended_by BIGINT,
  -- When it was last concerned by what others did. A waiter that has some comes first, and knows.
  news BIGINT,
  -- It is let in although data was lost.
  trusts BOOLEAN NOT NULL DEFAULT FALSE,
  PRIMARY KEY (resource, number),
  KEY queue (resource, admitted, number),
  KEY id (id),
  KEY news (address, news)
) ENGINE = InnoDB, ROW_FORMAT = DYNAMIC, CHARACTER SET ascii, COLLATE ascii_bin //

-- Tables of before. Whoever uses the table waits behind this while somebody else has it, so not for
-- long.
SET @holdfast_alter = (
  SELECT IF(COUNT(*) > 0, 'DO 0',
    'ALTER TABLE holdfast_claim ADD COLUMN trusts BOOLEAN NOT NULL DEFAULT FALSE')
  FROM information_schema.columns
  WHERE table_schema = DATABASE() AND table_name = 'holdfast_claim' AND column_name = 'trusts'
), @holdfast_wait = @@lock_wait_timeout, SESSION lock_wait_timeout = 2 //
PREPARE holdfast_alter FROM @holdfast_alter //
EXECUTE holdfast_alter //
DEALLOCATE PREPARE holdfast_alter //
SET SESSION lock_wait_timeout = @holdfast_wait //

-- What a late copy of a claim that has left is told. Whoever was evicted is woken, too.
CREATE TABLE IF NOT EXISTS holdfast_grave (
  id CHAR(32) PRIMARY KEY,
  until BIGINT NOT NULL,
  why VARCHAR(8) NOT NULL,
  detail TEXT CHARACTER SET utf8mb4,
  address VARCHAR(32),
  tag VARCHAR(32),
  news BIGINT,
  KEY news (address, news),
  KEY until (until)
) ENGINE = InnoDB, ROW_FORMAT = DYNAMIC, CHARACTER SET ascii, COLLATE ascii_bin //

-- What is kept about work that is done: it is in no queue, and outlives the claim. Tables of before
-- go on without it.
CREATE TABLE IF NOT EXISTS holdfast_kept (
  name VARBINARY(1280) PRIMARY KEY,
  content TEXT CHARACTER SET utf8mb4 NOT NULL,
  until BIGINT NOT NULL,
  KEY until (until)
) ENGINE = InnoDB, ROW_FORMAT = DYNAMIC, CHARACTER SET ascii, COLLATE ascii_bin //

-- How far the sweep has come. Whoever sweeps has its row locked.
CREATE TABLE IF NOT EXISTS holdfast_sweeping (
  only_row BOOLEAN PRIMARY KEY,
  -- The last name that was looked at; without one, a round is to begin when it is due.
  name VARBINARY(1280),
  due BIGINT NOT NULL,
  began BIGINT NOT NULL,
  -- What nobody has needed since then goes.
  long_ago BIGINT NOT NULL,
  -- Names of this round, and those of them that went.
  seen BIGINT NOT NULL,
  gone BIGINT NOT NULL
) ENGINE = InnoDB, ROW_FORMAT = DYNAMIC, CHARACTER SET ascii, COLLATE ascii_bin //
INSERT IGNORE INTO holdfast_sweeping VALUES (TRUE, NULL, 0, 0, 0, 0, 0) //

DROP PROCEDURE IF EXISTS holdfast_micros //
CREATE PROCEDURE holdfast_micros(OUT _now BIGINT) SQL SECURITY INVOKER
BEGIN
  SET _now = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6));
END //

-- Somebody asks for more than is recorded, or the history is another. A loss is possible if commits
-- were not waited for, or if this is other data than before. That they were not is itself committed
-- in that way, and may be lost: so it counts as well that they are not waited for now.
DROP PROCEDURE IF EXISTS holdfast_record //
CREATE PROCEDURE holdfast_record(
  _settings LONGTEXT CHARSET utf8mb4, _fast BOOLEAN
) SQL SECURITY INVOKER
BEGIN
  DECLARE _now, _max_ttl, _open_at BIGINT;
  DECLARE _was_fast BOOLEAN;
  DECLARE _history, _before VARCHAR(600) CHARSET utf8mb4;
  SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  START TRANSACTION READ WRITE;
  SELECT max_ttl, open_at, fast, history INTO _max_ttl, _open_at, _was_fast, _before
  FROM holdfast_store FOR UPDATE;
  CALL holdfast_micros(_now);
  -- A caller may have changed what its session knows.
  SET @holdfast_start = NULL;
  CALL holdfast_history();
  SET _max_ttl = GREATEST(_max_ttl, JSON_EXTRACT(_settings, '$.maxTtl') * 1000),
    _history = @holdfast_history;
  IF _before <> _history THEN
    IF _was_fast OR _fast
      OR SUBSTRING(_before, LOCATE(' ', _before)) <> SUBSTRING(_history, LOCATE(' ', _history)) THEN
      SET _open_at = _now + _max_ttl;
    END IF;
    SET _was_fast = FALSE;
  END IF;
  UPDATE holdfast_store SET max_ttl = _max_ttl, open_at = _open_at, fast = _was_fast OR _fast,
    history = _history;
  COMMIT;
END //

-- What comes first in every verb: the server's time, for a session may have another (`timestamp`);
-- the transaction, and how it waits. In an open transaction that is refused.
DROP PROCEDURE IF EXISTS holdfast_open //
CREATE PROCEDURE holdfast_open(_settings LONGTEXT CHARSET utf8mb4) SQL SECURITY INVOKER
BEGIN
  DECLARE _patience INT DEFAULT GREATEST(1, FLOOR(JSON_EXTRACT(_settings, '$.patience') / 1000));
  SET timestamp = DEFAULT;
  SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  START TRANSACTION READ WRITE;
  IF CAST(@@global.read_only AS CHAR) NOT IN ('0', 'OFF') THEN
    SIGNAL SQLSTATE '25006' SET MYSQL_ERRNO = 1836, MESSAGE_TEXT = 'The server is read-only';
  END IF;
  IF @@innodb_lock_wait_timeout <> _patience THEN
    SET SESSION innodb_lock_wait_timeout = _patience;
  END IF;
END //

-- Whether it is known that no data is lost. A commit is safe from crashes where it is on disk, in
-- the binary log as well, if there is one: that decides what a restart commits.
DROP PROCEDURE IF EXISTS holdfast_known //
CREATE PROCEDURE holdfast_known(
  _settings LONGTEXT CHARSET utf8mb4, OUT _now BIGINT, OUT _open_at BIGINT, OUT _highest BIGINT,
  OUT _recorded BOOLEAN
) SQL SECURITY INVOKER
BEGIN
  DECLARE CONTINUE HANDLER FOR NOT FOUND SET _recorded = FALSE;
  -- Tables may be made anew while this session stands by.
  IF NOT @holdfast_asked <=> UTC_TIMESTAMP() + 0 THEN CALL holdfast_history(); END IF;
  SELECT TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6)), s.open_at, s.highest,
    s.history = @holdfast_history AND s.max_ttl >= JSON_EXTRACT(_settings, '$.maxTtl') * 1000
      AND s.fast >= (@@global.innodb_flush_log_at_trx_commit NOT IN (1, 3)
        OR @@global.log_bin AND @@global.sync_binlog <> 1)
  INTO _now, _open_at, _highest, _recorded
  FROM holdfast_store s WHERE s.only_row = TRUE;
END //

-- What comes first where something may be granted or kept.
DROP PROCEDURE IF EXISTS holdfast_begin //
CREATE PROCEDURE holdfast_begin(
  _settings LONGTEXT CHARSET utf8mb4, OUT _now BIGINT, OUT _open_at BIGINT, OUT _highest BIGINT
) SQL SECURITY INVOKER
BEGIN
  DECLARE _recorded BOOLEAN;
  DECLARE _tries INT DEFAULT 0;
  known: LOOP
    CALL holdfast_open(_settings);
    CALL holdfast_known(_settings, _now, _open_at, _highest, _recorded);
    IF _recorded THEN LEAVE known; END IF;
    COMMIT;
    -- Again only if settings of the server change meanwhile, or a program asks for more.
    SET _tries = _tries + 1;
    IF _tries > 100 THEN
      SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'What is recorded of the server does not stay';
    END IF;
    CALL holdfast_record(_settings, @@global.innodb_flush_log_at_trx_commit NOT IN (1, 3)
      OR @@global.log_bin AND @@global.sync_binlog <> 1);
  END LOOP;
END //

-- Waits for a row of which alone something is asked, in line where there is patience for a second,
-- which is the least that the server can be told. For less it looks again and again.
DROP PROCEDURE IF EXISTS holdfast_await //
CREATE PROCEDURE holdfast_await(
  _settings LONGTEXT CHARSET utf8mb4, _name VARBINARY(1280)
) SQL SECURITY INVOKER
await: BEGIN
  DECLARE _patience BIGINT DEFAULT JSON_EXTRACT(_settings, '$.patience') * 1000;
  DECLARE _until, _now BIGINT;
  DECLARE _free, _there VARBINARY(1280);
  DECLARE CONTINUE HANDLER FOR NOT FOUND BEGIN END;
  IF _patience >= 1000000 THEN LEAVE await; END IF;
  LOOP
    SELECT r.name INTO _free FROM holdfast_resource r WHERE r.name = _name FOR UPDATE SKIP LOCKED;
    IF _free IS NOT NULL THEN LEAVE await; END IF;
    SELECT r.name INTO _there FROM holdfast_resource r WHERE r.name = _name;
    IF _there IS NULL THEN LEAVE await; END IF;
    CALL holdfast_micros(_now);
    SET _until = COALESCE(_until, _now + _patience);
    IF _now > _until THEN
      SIGNAL SQLSTATE 'HY000' SET MYSQL_ERRNO = 1205, MESSAGE_TEXT = 'A row is locked';
    END IF;
    DO SLEEP(0.001);
  END LOOP;
END //

-- Takes the rows of a batch that are free, and waits for none of the others while it has some: the
-- calls of others would wait with it, for a row that is not theirs. A claim whose row is taken is not
-- asked about now: it leaves the batch, and its place is told, the last one first. A batch that has
-- some rows and lacks others, whose insert may wait, gives them back and adds the others first.
DROP PROCEDURE IF EXISTS holdfast_take //
CREATE PROCEDURE holdfast_take(
  _settings LONGTEXT CHARSET utf8mb4, INOUT _claims LONGTEXT CHARSET utf8mb4,
  OUT _busy TEXT CHARSET ascii
) SQL SECURITY INVOKER
take: BEGIN
  DECLARE _count INT DEFAULT JSON_LENGTH(_claims);
  DECLARE _had, _there INT;
  DECLARE _added BOOLEAN DEFAULT FALSE;
  DECLARE _free, _rest TEXT CHARSET ascii;
  IF _count = 1 THEN
    CALL holdfast_await(_settings,
      CAST(JSON_UNQUOTE(JSON_EXTRACT(_claims, '$[0].resource')) AS BINARY));
    LEAVE take;
  END IF;
  LOOP
    SELECT COUNT(*), CONCAT(' ', GROUP_CONCAT(c.i SEPARATOR ' '), ' ') INTO _had, _free
    FROM JSON_TABLE(_claims, '$[*]' COLUMNS (
      i FOR ORDINALITY, resource VARCHAR(1280) CHARSET utf8mb4 PATH '$.resource'
    )) AS c
    STRAIGHT_JOIN holdfast_resource r FORCE INDEX (PRIMARY)
      ON r.name = CAST(c.resource AS BINARY)
    FOR UPDATE /*!80000 OF r */ SKIP LOCKED;
    IF _had = _count THEN
      SET _busy = NULL;
      LEAVE take;
    END IF;
    SELECT COUNT(*), GROUP_CONCAT(
      IF(LOCATE(CONCAT(' ', c.i, ' '), COALESCE(_free, '')) = 0, c.i - 1, NULL)
      ORDER BY c.i DESC SEPARATOR ' '
    ) INTO _there, _busy
    FROM JSON_TABLE(_claims, '$[*]' COLUMNS (
      i FOR ORDINALITY, resource VARCHAR(1280) CHARSET utf8mb4 PATH '$.resource'
    )) AS c
    STRAIGHT_JOIN holdfast_resource r FORCE INDEX (PRIMARY)
      ON r.name = CAST(c.resource AS BINARY);
    IF _added OR _had = 0 OR _there = _count THEN
      SET _rest = _busy;
      WHILE _rest <> '' DO
        SET _claims = JSON_REMOVE(_claims, CONCAT('$[', SUBSTRING_INDEX(_rest, ' ', 1), ']')),
          _rest = SUBSTRING(_rest, LENGTH(SUBSTRING_INDEX(_rest, ' ', 1)) + 2);
      END WHILE;
      LEAVE take;
    END IF;
    ROLLBACK;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
    START TRANSACTION READ WRITE;
    INSERT INTO holdfast_resource (name, kind, number)
    SELECT DISTINCT CAST(c.resource AS BINARY) AS name, 'm', 0
    FROM JSON_TABLE(_claims, '$[*]' COLUMNS (
      resource VARCHAR(1280) CHARSET utf8mb4 PATH '$.resource'
    )) AS c
    WHERE NOT EXISTS (
      SELECT 1 FROM holdfast_resource r WHERE r.name = CAST(c.resource AS BINARY)
    )
    ORDER BY name
    ON DUPLICATE KEY UPDATE done_by = done_by;
    COMMIT;
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
    START TRANSACTION READ WRITE;
    SET _added = TRUE;
  END LOOP;
END //

-- Wakes the processes with these addresses, each listed with a blank behind it. Nobody is there any
-- more who does not hold the named lock of his address, and nobody else holds it. Callers choose
-- addresses, and this may run as a user who may interrupt anybody: so a named lock of another form
-- than those of listeners is left alone.
DROP PROCEDURE IF EXISTS holdfast_ring //
CREATE PROCEDURE holdfast_ring(
  _settings LONGTEXT CHARSET utf8mb4, _rings LONGTEXT CHARSET ascii
) SQL SECURITY INVOKER
BEGIN
  DECLARE _wake VARCHAR(64) CHARSET ascii DEFAULT JSON_UNQUOTE(JSON_EXTRACT(_settings, '$.wake'));
  DECLARE _channel VARCHAR(96) CHARSET ascii;
  DECLARE _listener BIGINT;
  DECLARE CONTINUE HANDLER FOR 1094, 1095 BEGIN END;
  WHILE _rings <> '' DO
    SET _channel = CONCAT(_wake, SUBSTRING_INDEX(_rings, ' ', 1)), _listener = NULL;
    IF _channel REGEXP '^holdfast[_][0-9a-f]{16}$' THEN
      SET _listener = IS_USED_LOCK(_channel);
    END IF;
    IF _listener IS NOT NULL THEN KILL QUERY _listener; END IF;
    SET _rings = SUBSTRING(_rings, LOCATE(' ', _rings) + 1);
  END WHILE;
END //

DROP PROCEDURE IF EXISTS holdfast_rouse //
CREATE PROCEDURE holdfast_rouse(
  _address VARCHAR(32) CHARSET ascii, INOUT _rings LONGTEXT CHARSET ascii
) SQL SECURITY INVOKER
BEGIN
  IF _address <> '-' AND LOCATE(_address, _rings) = 0 THEN
    SET _rings = CONCAT(_rings, _address, ' ');
  END IF;
END //

DROP PROCEDURE IF EXISTS holdfast_missing //
CREATE PROCEDURE holdfast_missing(
  _id CHAR(32) CHARSET ascii, _now BIGINT, _open_at BIGINT, OUT _line LONGTEXT CHARSET utf8mb4
) SQL SECURITY INVOKER
BEGIN
  DECLARE CONTINUE HANDLER FOR NOT FOUND BEGIN END;
  SET _line = IF(_now >= _open_at, 'g expired ', 'g store-reset ');
  SELECT CONCAT('g ', g.why, ' ', COALESCE(g.detail, '')) INTO _line FROM holdfast_grave g
  WHERE g.id = _id AND g.until > _now;
END //

-- The claim that stood alone gets company.
DROP PROCEDURE IF EXISTS holdfast_spread //
CREATE PROCEDURE holdfast_spread(_name VARBINARY(1280)) SQL SECURITY INVOKER
BEGIN
  INSERT INTO holdfast_claim (resource, number, id, admitted, expires, kind, permits, capacity, ttl,
    address, tag, holder)
  SELECT r.name, r.number, r.id, TRUE, r.expires, r.kind, r.permits, r.capacity, r.ttl,
    r.address, r.tag, r.holder
  FROM holdfast_resource r WHERE r.name = _name AND r.id IS NOT NULL;
  UPDATE holdfast_resource SET id = NULL, crowd = TRUE WHERE name = _name;
END //

-- Where a claim of the crowd stands.
DROP PROCEDURE IF EXISTS holdfast_status //
CREATE PROCEDURE holdfast_status(
  _name VARBINARY(1280), _number BIGINT, _now BIGINT, _open_at BIGINT,
  OUT _line LONGTEXT CHARSET utf8mb4
) SQL SECURITY INVOKER
BEGIN
  DECLARE _admitted, _trusts BOOLEAN;
  DECLARE _capacity, _least, _count, _before, _waiters INT;
  DECLARE _expires, _ended_by, _death, _retry BIGINT;
  DECLARE _sealed, _ended VARCHAR(8) CHARSET ascii;
  DECLARE _detail TEXT CHARSET utf8mb4;
  DECLARE _limit VARCHAR(20) CHARSET ascii;
  DECLARE _why VARCHAR(9) CHARSET ascii DEFAULT 'queue';
  DECLARE CONTINUE HANDLER FOR NOT FOUND BEGIN END;
  SELECT c.admitted, c.trusts, c.capacity, c.expires, c.ended, c.ended_by, c.sealed, c.detail,
    r.waiters
  INTO _admitted, _trusts, _capacity, _expires, _ended, _ended_by, _sealed, _detail, _waiters
  FROM holdfast_claim c, holdfast_resource r
  WHERE c.resource = _name AND c.number = _number AND r.name = _name;
  SELECT COUNT(*), MIN(h.capacity), MIN(h.expires) INTO _count, _least, _death
  FROM holdfast_claim h WHERE h.resource = _name AND h.admitted = TRUE;
  SET _limit = IF(_least < _capacity, _least, '-');
  IF _sealed IS NOT NULL THEN
    SET _line = CONCAT('g ', _sealed, ' ', COALESCE(_detail, ''));
  ELSEIF _admitted THEN
    SET _line = CONCAT_WS(' ', 'h', _number, CEIL((_expires - _now) / 1000), _waiters, _limit,
      COALESCE(_ended, '-'), COALESCE(_ended_by, 0));
  ELSE
    -- Exact where it is short; a long queue is not counted for each who waits in it.
    SELECT COUNT(*) INTO _before FROM (
      SELECT 1 FROM holdfast_claim w
      WHERE w.resource = _name AND w.admitted = FALSE AND w.number < _number LIMIT 101
    ) AS counted;
    IF _before > 100 THEN SET _before = GREATEST(_before, _waiters - 1); END IF;
    -- The first waits for the earliest death of a holder, others for that of the one before.
    SELECT w.expires INTO _retry FROM holdfast_claim w
    WHERE w.resource = _name AND w.admitted = FALSE AND w.number < _number AND w.expires > _now
    ORDER BY w.number DESC LIMIT 1;
    SET _retry = COALESCE(_retry, _death, 0);
    IF _now < _open_at AND NOT _trusts THEN SET _why = 'data-loss', _retry = _open_at; END IF;
    SET _line = CONCAT_WS(' ', 'w', CEIL((_expires - _now) / 1000), _count + _before, _limit, _why,
      CEIL(GREATEST(_retry - _now, 0) / 1000));
  END IF;
END //

-- Whoever died right before this waiting claim, where only he could see it, goes.
DROP PROCEDURE IF EXISTS holdfast_close_ranks //
CREATE PROCEDURE holdfast_close_ranks(
  _name VARBINARY(1280), _number BIGINT, _now BIGINT
) SQL SECURITY INVOKER
ranks: BEGIN
  DECLARE _admitted BOOLEAN;
  DECLARE _before, _expires BIGINT;
  DECLARE CONTINUE HANDLER FOR NOT FOUND BEGIN END;
  SELECT c.admitted INTO _admitted FROM holdfast_claim c
  WHERE c.resource = _name AND c.number = _number;
  WHILE NOT _admitted DO
    SET _before = NULL;
    SELECT w.number, w.expires INTO _before, _expires FROM holdfast_claim w
    WHERE w.resource = _name AND w.admitted = FALSE AND w.number < _number
    ORDER BY w.number DESC LIMIT 1;
    IF _before IS NULL OR _expires > _now THEN LEAVE ranks; END IF;
    DELETE FROM holdfast_claim WHERE resource = _name AND number = _before;
    UPDATE holdfast_resource SET waiters = waiters - 1 WHERE name = _name;
  END WHILE;
END //

-- How a hold ended concerns who is admitted in the same step, or comes next where nobody holds.
DROP PROCEDURE IF EXISTS holdfast_save //
CREATE PROCEDURE holdfast_save(_name VARBINARY(1280)) SQL SECURITY INVOKER
BEGIN
  DECLARE _ended VARCHAR(8) CHARSET ascii;
  DECLARE _count INT DEFAULT 0;
  DECLARE CONTINUE HANDLER FOR NOT FOUND BEGIN END;
  SELECT r.ended INTO _ended FROM holdfast_resource r WHERE r.name = _name;
  IF _ended IS NOT NULL AND _ended <> 'released' THEN
    SELECT COUNT(*) INTO _count FROM holdfast_claim c
    WHERE c.resource = _name AND c.admitted = TRUE;
  END IF;
  IF _ended = 'released' OR _count > 0 THEN
    UPDATE holdfast_resource SET ended = NULL WHERE name = _name;
  END IF;
END //

-- Whoever is dead and in the way goes, whoever fits is admitted, in order. `_how` and `_by` say
-- which hold has just ended. Who asks has the news from the answer.
DROP PROCEDURE IF EXISTS holdfast_settle //
CREATE PROCEDURE holdfast_settle(
  _name VARBINARY(1280), _asking CHAR(32) CHARSET ascii, _now BIGINT, _open_at BIGINT,
  _how VARCHAR(8) CHARSET ascii, _by BIGINT, INOUT _rings LONGTEXT CHARSET ascii
) SQL SECURITY INVOKER
settle: BEGIN
  DECLARE _crowd, _trusts BOOLEAN;
  DECLARE _id CHAR(32) CHARSET ascii;
  DECLARE _count, _waiters, _permits, _capacity, _least INT;
  DECLARE _used, _death, _expires, _number, _known, _news, _ended_by BIGINT;
  DECLARE _ended, _sealed VARCHAR(8) CHARSET ascii;
  DECLARE _address VARCHAR(32) CHARSET ascii;
  DECLARE CONTINUE HANDLER FOR NOT FOUND BEGIN END;
  SELECT r.crowd, r.id, r.expires, r.waiters, r.ended, r.ended_by
  INTO _crowd, _id, _expires, _waiters, _ended, _ended_by
  FROM holdfast_resource r WHERE r.name = _name;
  IF NOT _crowd THEN
    IF _id IS NULL OR _expires > _now THEN LEAVE settle; END IF;
    CALL holdfast_spread(_name);
  END IF;
  SELECT COUNT(*), COALESCE(SUM(c.permits), 0), MIN(c.capacity), MIN(c.expires)
  INTO _count, _used, _least, _death
  FROM holdfast_claim c WHERE c.resource = _name AND c.admitted = TRUE;
  IF _count > 0 OR _ended = 'released' THEN SET _ended = NULL; END IF;
  IF _how IS NOT NULL THEN SET _ended = _how, _ended_by = _by; END IF;
  IF _death <= _now THEN
    dead: LOOP
      SET _number = NULL;
      SELECT c.number, c.sealed INTO _number, _sealed FROM holdfast_claim c
      WHERE c.resource = _name AND c.admitted = TRUE AND c.expires <= _now
      ORDER BY c.number LIMIT 1;
      IF _number IS NULL THEN LEAVE dead; END IF;
      DELETE FROM holdfast_claim WHERE resource = _name AND number = _number;
      SET _ended = CASE _sealed WHEN 'evicted' THEN 'evicted' WHEN 'unknown' THEN 'released'
        ELSE 'expired' END, _ended_by = _number;
    END LOOP;
    SELECT COUNT(*), COALESCE(SUM(c.permits), 0), MIN(c.capacity) INTO _count, _used, _least
    FROM holdfast_claim c WHERE c.resource = _name AND c.admitted = TRUE;
  END IF;
  waiting: LOOP
    SET _number = NULL;
    SELECT c.number, c.expires, c.permits, c.capacity, c.trusts, c.news,
      IF(c.id <=> _asking, 0, GREATEST(_now, COALESCE(c.news, 0) + 1)),
      IF(c.id <=> _asking, '-', c.address)
    INTO _number, _expires, _permits, _capacity, _trusts, _known, _news, _address
    FROM holdfast_claim c
    WHERE c.resource = _name AND c.admitted = FALSE ORDER BY c.number LIMIT 1;
    IF _number IS NULL THEN LEAVE waiting; END IF;
    IF _expires <= _now THEN
      DELETE FROM holdfast_claim WHERE resource = _name AND number = _number;
      SET _waiters = _waiters - 1;
      ITERATE waiting;
    END IF;
    IF _now < _open_at AND NOT _trusts
      OR _used + _permits > LEAST(COALESCE(_least, _capacity), _capacity) THEN
      IF _known IS NULL THEN
        UPDATE holdfast_claim SET news = _news WHERE resource = _name AND number = _number;
        CALL holdfast_rouse(_address, _rings);
      END IF;
      LEAVE waiting;
    END IF;
    UPDATE holdfast_claim SET admitted = TRUE, ended = _ended, ended_by = _ended_by, news = _news
    WHERE resource = _name AND number = _number;
    SET _waiters = _waiters - 1, _count = _count + 1, _used = _used + _permits,
      _least = LEAST(COALESCE(_least, _capacity), _capacity);
    CALL holdfast_rouse(_address, _rings);
  END LOOP;
  UPDATE holdfast_resource SET crowd = _count > 0 OR _waiters > 0, waiters = _waiters,
    ended = _ended, ended_by = _ended_by
  WHERE name = _name;
END //

-- A mutex is held, and nobody is dead who could be in the way: the new claim waits behind all
-- others. No line where that is not so, or the claim is there already.
DROP PROCEDURE IF EXISTS holdfast_join //
CREATE PROCEDURE holdfast_join(
  _name VARBINARY(1280), _id CHAR(32) CHARSET ascii, _ttl INT UNSIGNED,
  _address VARCHAR(32) CHARSET ascii, _tag VARCHAR(32) CHARSET ascii,
  _holder TEXT CHARSET utf8mb4, _trusts BOOLEAN, _max_waiters INT, _highest BIGINT,
  INOUT _rings LONGTEXT CHARSET ascii, OUT _line LONGTEXT CHARSET utf8mb4
) SQL SECURITY INVOKER
join_queue: BEGIN
  DECLARE _now, _graves, _last, _death, _number, _expires, _first, _before BIGINT;
  DECLARE _waiters INT;
  DECLARE _kind CHAR(1) CHARSET ascii;
  DECLARE _only CHAR(32) CHARSET ascii;
  DECLARE _crowd, _present BOOLEAN;
  DECLARE _whom VARCHAR(32) CHARSET ascii;
  DECLARE CONTINUE HANDLER FOR NOT FOUND BEGIN END;
  SELECT r.graves, r.kind, r.crowd, r.waiters, r.id, r.number, r.expires
  INTO _graves, _kind, _crowd, _waiters, _only, _last, _death
  FROM holdfast_resource r WHERE r.name = _name FOR UPDATE;
  SET _now = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6));
  IF NOT COALESCE(_kind = 'm' AND _graves <= _now AND _waiters < _max_waiters
    AND (_crowd OR _only <> _id AND _death > _now), FALSE) THEN LEAVE join_queue; END IF;
  IF NOT _crowd THEN CALL holdfast_spread(_name); END IF;
  SELECT h.number, h.expires, h.address,
    EXISTS (SELECT 1 FROM holdfast_claim c WHERE c.id = _id AND c.resource = _name),
    (SELECT w.expires FROM holdfast_claim w WHERE w.resource = _name AND w.admitted = FALSE
      ORDER BY w.number LIMIT 1),
    (SELECT w.expires FROM holdfast_claim w WHERE w.resource = _name AND w.admitted = FALSE
      ORDER BY w.number DESC LIMIT 1)
  INTO _number, _expires, _whom, _present, _first, _before
  FROM holdfast_claim h WHERE h.resource = _name AND h.admitted = TRUE LIMIT 1;
  IF NOT _present
    AND LEAST(_expires, COALESCE(_first, _expires), COALESCE(_before, _expires)) > _now THEN
    SET _last = GREATEST(_last + 1, _now, _highest + 1);
    UPDATE holdfast_resource SET number = _last, waiters = waiters + 1 WHERE name = _name;
    INSERT INTO holdfast_claim (resource, number, id, admitted, expires, kind, permits, capacity,
      ttl, address, tag, holder, news, trusts)
    VALUES (_name, _last, _id, FALSE, _now + _ttl * 1000, 'm', 1, 1, _ttl, _address, _tag, _holder,
      IF(_waiters = 0, 0, NULL), _trusts);
    IF _waiters = 0 THEN
      UPDATE holdfast_claim SET news = GREATEST(_now, COALESCE(news, 0) + 1)
      WHERE resource = _name AND number = _number;
      CALL holdfast_rouse(_whom, _rings);
    END IF;
    SET _line = CONCAT_WS(' ', 'w', _ttl, 1 + _waiters, '- queue',
      CEIL((COALESCE(_before, _expires) - _now) / 1000));
  END IF;
END //

-- The long way of a claim that its resource's row could not take at once.
DROP PROCEDURE IF EXISTS holdfast_enter //
CREATE PROCEDURE holdfast_enter(
  _name VARBINARY(1280), _id CHAR(32) CHARSET ascii, _kind CHAR(1) CHARSET ascii, _permits INT,
  _capacity INT, _ttl INT UNSIGNED, _queue BOOLEAN, _address VARCHAR(32) CHARSET ascii,
  _tag VARCHAR(32) CHARSET ascii, _holder TEXT CHARSET utf8mb4, _trusts BOOLEAN,
  _max_waiters INT, _now BIGINT, _open_at BIGINT, _highest BIGINT,
  INOUT _rings LONGTEXT CHARSET ascii, OUT _line LONGTEXT CHARSET utf8mb4
) SQL SECURITY INVOKER
BEGIN
  DECLARE _only CHAR(32) CHARSET ascii;
  DECLARE _present CHAR(1) CHARSET ascii;
  DECLARE _waiters, _used, _least INT;
  DECLARE _crowd, _admitted, _own_admitted BOOLEAN;
  DECLARE _number, _last, _expires, _graves, _ended_by, _own_expires BIGINT;
  DECLARE _ended VARCHAR(8) CHARSET ascii;
  DECLARE _rung LONGTEXT CHARSET ascii;
  DECLARE CONTINUE HANDLER FOR NOT FOUND BEGIN END;
  enter: BEGIN
    SELECT r.graves, r.id, r.number, r.expires INTO _graves, _only, _last, _expires
    FROM holdfast_resource r WHERE r.name = _name;
    IF _graves > _now THEN
      CALL holdfast_missing(_id, _now, 0, _line);
      IF _line <> 'g expired ' THEN LEAVE enter; END IF;
      SET _line = NULL;
    END IF;
    IF _only = _id AND _expires > _now THEN
      SET _line = CONCAT('h ', _last, ' ', CEIL((_expires - _now) / 1000), ' 0 - - 0');
      LEAVE enter;
    END IF;
    -- One that has died in the queue may not come back in its old place.
    SELECT c.number, c.expires, c.admitted INTO _number, _own_expires, _own_admitted
    FROM holdfast_claim c WHERE c.id = _id AND c.resource = _name;
    IF _own_expires <= _now AND NOT _own_admitted THEN
      DELETE FROM holdfast_claim WHERE resource = _name AND number = _number;
      UPDATE holdfast_resource SET waiters = waiters - 1 WHERE name = _name;
    END IF;
    CALL holdfast_settle(_name, _id, _now, _open_at, NULL, NULL, _rings);
    SET _number = NULL;
    SELECT c.number INTO _number FROM holdfast_claim c WHERE c.id = _id AND c.resource = _name;
    IF _number IS NOT NULL THEN
      CALL holdfast_close_ranks(_name, _number, _now);
      CALL holdfast_status(_name, _number, _now, _open_at, _line);
      LEAVE enter;
    END IF;
    SELECT r.kind, r.crowd, r.id, r.number, r.waiters, r.ended, r.ended_by, r.permits, r.capacity
    INTO _present, _crowd, _only, _last, _waiters, _ended, _ended_by, _used, _least
    FROM holdfast_resource r WHERE r.name = _name;
    IF (_crowd OR _only IS NOT NULL) AND _present <> _kind
      AND (_present IN ('m', 'p') OR _kind IN ('m', 'p')) THEN
      SET _line = CONCAT('g mismatch ', _present);
      LEAVE enter;
    END IF;
    IF _only IS NULL THEN
      SELECT COALESCE(SUM(c.permits), 0), MIN(c.capacity) INTO _used, _least
      FROM holdfast_claim c WHERE c.resource = _name AND c.admitted = TRUE;
    END IF;
    SET _admitted = (_now >= _open_at OR _trusts) AND _waiters = 0
      AND _used + _permits <= LEAST(COALESCE(_least, _capacity), _capacity);
    IF NOT _admitted AND NOT _queue THEN
      SET _line = 'g refused ';
      LEAVE enter;
    END IF;
    IF NOT _admitted AND _waiters >= _max_waiters THEN
      SET _line = CONCAT('g full maxWaiters is ', _max_waiters);
      LEAVE enter;
    END IF;
    CALL holdfast_spread(_name);
    SET _number = GREATEST(_last + 1, _now, _highest + 1);
    UPDATE holdfast_resource SET kind = _kind, number = _number,
      waiters = _waiters + IF(_admitted, 0, 1)
    WHERE name = _name;
    INSERT INTO holdfast_claim (resource, number, id, admitted, expires, kind, permits, capacity,
      ttl, address, tag, holder, ended, ended_by, news, trusts)
    VALUES (_name, _number, _id, _admitted, _now + _ttl * 1000, _kind, _permits, _capacity, _ttl,
      _address, _tag, _holder, IF(_admitted, _ended, NULL), _ended_by, IF(_waiters = 0, 0, NULL),
      _trusts);
    IF NOT _admitted AND _waiters = 0 THEN
      UPDATE holdfast_claim FORCE INDEX (queue)
      SET news = GREATEST(_now, COALESCE(news, 0) + 1)
      WHERE resource = _name AND admitted = TRUE;
      SELECT GROUP_CONCAT(DISTINCT c.address SEPARATOR ' ') INTO _rung FROM holdfast_claim c
      WHERE c.resource = _name AND c.admitted = TRUE AND c.address <> '-';
      IF _rung IS NOT NULL THEN SET _rings = CONCAT(_rings, _rung, ' '); END IF;
    END IF;
    CALL holdfast_close_ranks(_name, _number, _now);
    CALL holdfast_status(_name, _number, _now, _open_at, _line);
  END;
  CALL holdfast_save(_name);
END //

-- Enters the queues, or tells where ids already in them stand. Never extends a claim.
DROP PROCEDURE IF EXISTS holdfast_claim //
CREATE PROCEDURE holdfast_claim(
  _settings LONGTEXT CHARSET utf8mb4, _claims LONGTEXT CHARSET utf8mb4
) SQL SECURITY DEFINER
BEGIN
  DECLARE _now, _open_at, _highest BIGINT;
  -- A short one (UUID_SHORT) comes again when the server starts twice in a second.
  DECLARE _call BIGINT UNSIGNED DEFAULT CONV(LEFT(MD5(UUID()), 15), 16, 10);
  DECLARE _i, _done INT DEFAULT 0;
  DECLARE _line, _answers LONGTEXT CHARSET utf8mb4;
  DECLARE _name VARBINARY(1280);
  DECLARE _id CHAR(32) CHARSET ascii;
  DECLARE _kind CHAR(1) CHARSET ascii;
  DECLARE _permits, _capacity INT;
  DECLARE _ttl INT UNSIGNED;
  DECLARE _queue BOOLEAN;
  DECLARE _trusts BOOLEAN DEFAULT JSON_UNQUOTE(JSON_EXTRACT(_settings, '$.trust')) <=> 'true';
  DECLARE _address, _tag VARCHAR(32) CHARSET ascii;
  DECLARE _holder TEXT CHARSET utf8mb4;
  DECLARE _rings LONGTEXT CHARSET ascii DEFAULT '';
  DECLARE _busy TEXT CHARSET ascii;
  DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;
  CALL holdfast_begin(_settings, _now, _open_at, _highest);
  CALL holdfast_take(_settings, _claims, _busy);
  INSERT INTO holdfast_resource (name, kind, number, id, expires, permits, capacity, ttl, address,
    tag, holder, done_by)
  SELECT CAST(c.resource AS BINARY), c.kind, GREATEST(_now, _highest + 1),
    IF(_now >= _open_at, c.id, NULL), _now + c.ttl * 1000, c.permits, c.capacity, c.ttl,
    c.address, c.tag, c.holder, IF(_now >= _open_at, _call + c.i, 0)
  FROM JSON_TABLE(_claims, '$[*]' COLUMNS (
    i FOR ORDINALITY, resource VARCHAR(1280) CHARSET utf8mb4 PATH '$.resource',
    id CHAR(32) PATH '$.id',
    kind CHAR(1) PATH '$.kind', permits INT PATH '$.permits', capacity INT PATH '$.limit',
    ttl INT UNSIGNED PATH '$.ttl', address VARCHAR(32) PATH '$.address',
    tag VARCHAR(32) PATH '$.tag', holder TEXT CHARSET utf8mb4 PATH '$.holder'
  )) AS c
  ORDER BY CAST(c.resource AS BINARY), c.i
  -- From left to right: each sees what those before it have done.
  ON DUPLICATE KEY UPDATE
    done_by = IF(_now >= _open_at AND holdfast_resource.id IS NULL AND NOT crowd AND ended IS NULL
      AND graves <= _now, _call + c.i, done_by),
    holdfast_resource.id = IF(done_by = _call + c.i, c.id, holdfast_resource.id),
    holdfast_resource.kind = IF(done_by = _call + c.i, c.kind, holdfast_resource.kind),
    number = IF(done_by = _call + c.i, GREATEST(number + 1, _now, _highest + 1), number),
    expires = IF(done_by = _call + c.i, _now + c.ttl * 1000, expires),
    holdfast_resource.permits = IF(done_by = _call + c.i, c.permits, holdfast_resource.permits),
    holdfast_resource.capacity = IF(done_by = _call + c.i, c.capacity, holdfast_resource.capacity),
    holdfast_resource.ttl = IF(done_by = _call + c.i, c.ttl, holdfast_resource.ttl),
    holdfast_resource.address = IF(done_by = _call + c.i, c.address, holdfast_resource.address),
    holdfast_resource.tag = IF(done_by = _call + c.i, c.tag, holdfast_resource.tag),
    holdfast_resource.holder = IF(done_by = _call + c.i, c.holder, holdfast_resource.holder);
  SELECT JSON_OBJECTAGG(c.i, CONCAT('h ', r.number, ' ', r.ttl, ' 0 - - 0')), COUNT(*)
  INTO _answers, _done
  FROM JSON_TABLE(_claims, '$[*]' COLUMNS (
    i FOR ORDINALITY, resource VARCHAR(1280) CHARSET utf8mb4 PATH '$.resource'
  )) AS c
  STRAIGHT_JOIN holdfast_resource r
    ON r.name = CAST(c.resource AS BINARY) AND r.done_by = _call + c.i;
  IF _done < JSON_LENGTH(_claims) THEN
    SET _answers = COALESCE(_answers, '{}');
    CALL holdfast_micros(_now);
    WHILE _i < JSON_LENGTH(_claims) DO
      IF JSON_EXTRACT(_answers, CONCAT('$."', _i + 1, '"')) IS NULL THEN
        SELECT CAST(c.resource AS BINARY), c.id, c.kind, c.permits, c.capacity, c.ttl, c.queue,
          c.address, c.tag, c.holder
        INTO _name, _id, _kind, _permits, _capacity, _ttl, _queue, _address, _tag, _holder
        FROM JSON_TABLE(JSON_EXTRACT(_claims, CONCAT('$[', _i, ']')), '$' COLUMNS (
          resource VARCHAR(1280) CHARSET utf8mb4 PATH '$.resource', id CHAR(32) PATH '$.id',
          kind CHAR(1) PATH '$.kind', permits INT PATH '$.permits', capacity INT PATH '$.limit',
          ttl INT UNSIGNED PATH '$.ttl', queue BOOLEAN PATH '$.queue',
          address VARCHAR(32) PATH '$.address', tag VARCHAR(32) PATH '$.tag',
          holder TEXT CHARSET utf8mb4 PATH '$.holder'
        )) AS c;
        SET _line = NULL;
        IF _queue AND _kind = 'm' AND _now >= _open_at THEN
          CALL holdfast_join(_name, _id, _ttl, _address, _tag, _holder, _trusts,
            JSON_EXTRACT(_settings, '$.maxWaiters'), _highest, _rings, _line);
        END IF;
        IF _line IS NULL THEN
          CALL holdfast_enter(_name, _id, _kind, _permits, _capacity, _ttl, _queue, _address, _tag,
            _holder, _trusts, JSON_EXTRACT(_settings, '$.maxWaiters'), _now, _open_at, _highest,
            _rings, _line);
        END IF;
        SET _answers = JSON_SET(_answers, CONCAT('$."', _i + 1, '"'), _line);
      END IF;
      SET _i = _i + 1;
    END WHILE;
  END IF;
  COMMIT;
  IF _rings <> '' THEN CALL holdfast_ring(_settings, _rings); END IF;
  SELECT _answers, _busy;
END //

-- The same for one claim, in plain values.
DROP PROCEDURE IF EXISTS holdfast_claim_one //
CREATE PROCEDURE holdfast_claim_one(
  _settings LONGTEXT CHARSET utf8mb4, _name VARBINARY(1280), _id CHAR(32) CHARSET ascii,
  _kind CHAR(1) CHARSET ascii, _permits INT, _capacity INT, _ttl INT UNSIGNED, _queue BOOLEAN,
  _address VARCHAR(32) CHARSET ascii, _tag VARCHAR(32) CHARSET ascii,
  _holder TEXT CHARSET utf8mb4
) SQL SECURITY DEFINER
claim: BEGIN
  DECLARE _now, _open_at, _highest BIGINT;
  DECLARE _trusts BOOLEAN;
  DECLARE _line LONGTEXT CHARSET utf8mb4;
  DECLARE _rings LONGTEXT CHARSET ascii DEFAULT '';
  DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;
  CALL holdfast_begin(_settings, _now, _open_at, _highest);
  CALL holdfast_await(_settings, _name);
  IF _now >= _open_at THEN
    UPDATE holdfast_resource SET id = _id, kind = _kind,
      number = LAST_INSERT_ID(GREATEST(number + 1, _now, _highest + 1)),
      expires = _now + _ttl * 1000, permits = _permits, capacity = _capacity, ttl = _ttl,
      address = _address, tag = _tag, holder = _holder
    WHERE name = _name AND id IS NULL AND NOT crowd AND ended IS NULL AND graves <= _now;
    IF ROW_COUNT() = 1 THEN
      COMMIT;
      SELECT CONCAT('h ', LAST_INSERT_ID(), ' ', _ttl, ' 0 - - 0');
      LEAVE claim;
    END IF;
  END IF;
  SET _trusts = JSON_UNQUOTE(JSON_EXTRACT(_settings, '$.trust')) <=> 'true';
  IF _queue AND _kind = 'm' AND _now >= _open_at THEN
    CALL holdfast_join(_name, _id, _ttl, _address, _tag, _holder, _trusts,
      JSON_EXTRACT(_settings, '$.maxWaiters'), _highest, _rings, _line);
  END IF;
  IF _line IS NULL THEN
    INSERT INTO holdfast_resource (name, kind, number, id, expires, permits, capacity, ttl, address,
      tag, holder)
    VALUES (_name, _kind, GREATEST(_now, _highest + 1), IF(_now >= _open_at, _id, NULL),
      _now + _ttl * 1000, _permits, _capacity, _ttl, _address, _tag, _holder)
    ON DUPLICATE KEY UPDATE done_by = done_by;
    CALL holdfast_micros(_now);
    CALL holdfast_enter(_name, _id, _kind, _permits, _capacity, _ttl, _queue, _address, _tag,
      _holder, _trusts, JSON_EXTRACT(_settings, '$.maxWaiters'), _now, _open_at, _highest, _rings,
      _line);
  END IF;
  COMMIT;
  IF _rings <> '' THEN CALL holdfast_ring(_settings, _rings); END IF;
  SELECT _line;
END //

-- The long way of a heartbeat.
DROP PROCEDURE IF EXISTS holdfast_beat //
CREATE PROCEDURE holdfast_beat(
  _name VARBINARY(1280), _id CHAR(32) CHARSET ascii, _ttl INT UNSIGNED, _now BIGINT,
  _open_at BIGINT, INOUT _rings LONGTEXT CHARSET ascii, OUT _line LONGTEXT CHARSET utf8mb4
) SQL SECURITY INVOKER
BEGIN
  DECLARE _number BIGINT;
  DECLARE _sealed VARCHAR(8) CHARSET ascii;
  DECLARE CONTINUE HANDLER FOR NOT FOUND BEGIN END;
  CALL holdfast_settle(_name, _id, _now, _open_at, NULL, NULL, _rings);
  SELECT c.number, c.sealed INTO _number, _sealed FROM holdfast_claim c
  WHERE c.id = _id AND c.resource = _name AND c.expires > _now;
  IF _number IS NOT NULL THEN
    IF _sealed IS NULL THEN
      UPDATE holdfast_claim SET expires = _now + _ttl * 1000
      WHERE resource = _name AND number = _number;
    END IF;
    CALL holdfast_close_ranks(_name, _number, _now);
    CALL holdfast_status(_name, _number, _now, _open_at, _line);
  ELSE
    -- The only claim, which another call has renewed in this very moment.
    SELECT r.number INTO _number FROM holdfast_resource r
    WHERE r.name = _name AND r.id = _id AND r.expires > _now;
    IF _number IS NULL THEN
      CALL holdfast_missing(_id, _now, _open_at, _line);
    ELSE
      UPDATE holdfast_resource SET expires = _now + _ttl * 1000, ttl = _ttl WHERE name = _name;
      SET _line = CONCAT('h ', _number, ' ', _ttl, ' 0 - - 0');
    END IF;
  END IF;
  CALL holdfast_save(_name);
END //

-- Heartbeat and status in one. Never revives a claim.
DROP PROCEDURE IF EXISTS holdfast_renew //
CREATE PROCEDURE holdfast_renew(
  _settings LONGTEXT CHARSET utf8mb4, _claims LONGTEXT CHARSET utf8mb4
) SQL SECURITY DEFINER
BEGIN
  DECLARE _now, _open_at, _highest BIGINT;
  -- A short one (UUID_SHORT) comes again when the server starts twice in a second.
  DECLARE _call BIGINT UNSIGNED DEFAULT CONV(LEFT(MD5(UUID()), 15), 16, 10);
  DECLARE _i, _done INT DEFAULT 0;
  DECLARE _line, _answers LONGTEXT CHARSET utf8mb4;
  DECLARE _claim TEXT CHARSET utf8mb4;
  DECLARE _rings LONGTEXT CHARSET ascii DEFAULT '';
  DECLARE _busy TEXT CHARSET ascii;
  DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;
  CALL holdfast_begin(_settings, _now, _open_at, _highest);
  CALL holdfast_take(_settings, _claims, _busy);
  INSERT INTO holdfast_resource (name, kind, number)
  SELECT CAST(c.resource AS BINARY), 'm', 0
  FROM JSON_TABLE(_claims, '$[*]' COLUMNS (
    resource VARCHAR(1280) CHARSET utf8mb4 PATH '$.resource', id CHAR(32) PATH '$.id',
    ttl INT UNSIGNED PATH '$.ttl'
  )) AS c
  ORDER BY CAST(c.resource AS BINARY)
  ON DUPLICATE KEY UPDATE
    done_by = IF(holdfast_resource.id = c.id AND expires > _now, _call, done_by),
    expires = IF(holdfast_resource.id = c.id AND done_by = _call, _now + c.ttl * 1000, expires),
    holdfast_resource.ttl = IF(holdfast_resource.id = c.id AND done_by = _call, c.ttl,
      holdfast_resource.ttl);
  SELECT JSON_OBJECTAGG(c.i, CONCAT('h ', r.number, ' ', r.ttl, ' 0 - - 0')), COUNT(*)
  INTO _answers, _done
  FROM JSON_TABLE(_claims, '$[*]' COLUMNS (
    i FOR ORDINALITY, resource VARCHAR(1280) CHARSET utf8mb4 PATH '$.resource',
    id CHAR(32) PATH '$.id'
  )) AS c
  STRAIGHT_JOIN holdfast_resource r
    ON r.name = CAST(c.resource AS BINARY) AND r.id = c.id AND r.done_by = _call;
  IF _done < JSON_LENGTH(_claims) THEN
    SET _answers = COALESCE(_answers, '{}');
    CALL holdfast_micros(_now);
    WHILE _i < JSON_LENGTH(_claims) DO
      IF JSON_EXTRACT(_answers, CONCAT('$."', _i + 1, '"')) IS NULL THEN
        SET _claim = JSON_EXTRACT(_claims, CONCAT('$[', _i, ']'));
        CALL holdfast_beat(CAST(JSON_UNQUOTE(JSON_EXTRACT(_claim, '$.resource')) AS BINARY),
          JSON_UNQUOTE(JSON_EXTRACT(_claim, '$.id')), JSON_EXTRACT(_claim, '$.ttl'),
          _now, _open_at, _rings, _line);
        SET _answers = JSON_SET(_answers, CONCAT('$."', _i + 1, '"'), _line);
      END IF;
      SET _i = _i + 1;
    END WHILE;
  END IF;
  COMMIT;
  IF _rings <> '' THEN CALL holdfast_ring(_settings, _rings); END IF;
  SELECT _answers, _busy;
END //

-- The same for one claim, in plain values.
DROP PROCEDURE IF EXISTS holdfast_renew_one //
CREATE PROCEDURE holdfast_renew_one(
  _settings LONGTEXT CHARSET utf8mb4, _name VARBINARY(1280), _id CHAR(32) CHARSET ascii,
  _ttl INT UNSIGNED
) SQL SECURITY DEFINER
renew: BEGIN
  DECLARE _now, _open_at, _highest BIGINT;
  DECLARE _line LONGTEXT CHARSET utf8mb4;
  DECLARE _rings LONGTEXT CHARSET ascii DEFAULT '';
  DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;
  CALL holdfast_begin(_settings, _now, _open_at, _highest);
  CALL holdfast_await(_settings, _name);
  UPDATE holdfast_resource SET expires = _now + _ttl * 1000, ttl = _ttl,
    number = LAST_INSERT_ID(number)
  WHERE name = _name AND id = _id AND expires > _now;
  IF ROW_COUNT() = 1 THEN
    COMMIT;
    SELECT CONCAT('h ', LAST_INSERT_ID(), ' ', _ttl, ' 0 - - 0');
    LEAVE renew;
  END IF;
  INSERT INTO holdfast_resource (name, kind, number) VALUES (_name, 'm', 0)
  ON DUPLICATE KEY UPDATE done_by = done_by;
  CALL holdfast_micros(_now);
  CALL holdfast_beat(_name, _id, _ttl, _now, _open_at, _rings, _line);
  COMMIT;
  IF _rings <> '' THEN CALL holdfast_ring(_settings, _rings); END IF;
  SELECT _line;
END //

-- A claim that has left, or left out: its late copies are told why, for so long.
DROP PROCEDURE IF EXISTS holdfast_bury //
CREATE PROCEDURE holdfast_bury(
  _name VARBINARY(1280), _id CHAR(32) CHARSET ascii, _until BIGINT, _why VARCHAR(8) CHARSET ascii,
  _detail TEXT CHARSET utf8mb4
) SQL SECURITY INVOKER
BEGIN
  INSERT INTO holdfast_grave (id, until, why, detail) VALUES (_id, _until, _why, _detail)
  ON DUPLICATE KEY UPDATE until = _until, why = _why, detail = _detail;
  UPDATE holdfast_resource SET graves = GREATEST(graves, _until) WHERE name = _name;
END //

-- Leaves the queue; what it held is free for the next ones.
DROP PROCEDURE IF EXISTS holdfast_depart //
CREATE PROCEDURE holdfast_depart(
  _name VARBINARY(1280), _id CHAR(32) CHARSET ascii, _number BIGINT, _now BIGINT,
  _open_at BIGINT,
  INOUT _rings LONGTEXT CHARSET ascii
) SQL SECURITY INVOKER
BEGIN
  DECLARE _admitted BOOLEAN;
  DECLARE _sealed VARCHAR(8) CHARSET ascii;
  SELECT c.admitted, c.sealed INTO _admitted, _sealed FROM holdfast_claim c
  WHERE c.resource = _name AND c.number = _number;
  DELETE FROM holdfast_claim WHERE resource = _name AND number = _number;
  IF _admitted THEN
    CALL holdfast_settle(_name, _id, _now, _open_at, IF(_sealed = 'evicted', 'evicted', 'released'),
      _number, _rings);
  ELSE
    UPDATE holdfast_resource SET waiters = waiters - 1 WHERE name = _name;
    CALL holdfast_settle(_name, _id, _now, _open_at, NULL, NULL, _rings);
  END IF;
END //

-- The holder of a mutex leaves, and nobody behind is dead who could be in the way: the first waiter
-- holds. The next one, who comes first now, is not woken for that: its process looks within a
-- second. A waiter of the process that asks has its news with the answer. No line where that is not
-- so.
DROP PROCEDURE IF EXISTS holdfast_pass //
CREATE PROCEDURE holdfast_pass(
  _name VARBINARY(1280), _id CHAR(32) CHARSET ascii, _asking VARCHAR(32) CHARSET ascii,
  INOUT _rings LONGTEXT CHARSET ascii, OUT _line LONGTEXT CHARSET utf8mb4,
  OUT _told LONGTEXT CHARSET utf8mb4
) SQL SECURITY INVOKER
pass_on: BEGIN
  DECLARE _now, _number, _winner, _expires, _news, _next, _next_expires, _next_news BIGINT;
  DECLARE _waiters INT;
  DECLARE _whom, _tag VARCHAR(32) CHARSET ascii;
  DECLARE CONTINUE HANDLER FOR NOT FOUND BEGIN END;
  SELECT r.waiters INTO _waiters FROM holdfast_resource r
  WHERE r.name = _name AND r.crowd AND r.kind = 'm' FOR UPDATE;
  SET _now = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6));
  SELECT h.number INTO _number FROM holdfast_claim h
  WHERE h.resource = _name AND h.admitted = TRUE AND h.id = _id AND h.expires > _now
    AND h.sealed IS NULL;
  IF _waiters IS NULL OR _number IS NULL THEN LEAVE pass_on; END IF;
  IF _waiters > 0 THEN
    SELECT w.number, w.expires, w.address, w.tag, GREATEST(_now, COALESCE(w.news, 0) + 1)
    INTO _winner, _expires, _whom, _tag, _news FROM holdfast_claim w
    WHERE w.resource = _name AND w.admitted = FALSE ORDER BY w.number LIMIT 1;
  END IF;
  IF _waiters > 1 THEN
    SELECT w.number, w.expires, w.news INTO _next, _next_expires, _next_news FROM holdfast_claim w
    WHERE w.resource = _name AND w.admitted = FALSE AND w.number > _winner
    ORDER BY w.number LIMIT 1;
  END IF;
  IF _expires <= _now OR _next_expires <= _now OR _waiters > 0 AND _winner IS NULL THEN
    LEAVE pass_on;
  END IF;
  DELETE FROM holdfast_claim WHERE resource = _name AND number = _number;
  IF _winner IS NOT NULL THEN
    UPDATE holdfast_claim SET admitted = TRUE, ended = 'released', ended_by = _number, news = _news
    WHERE resource = _name AND number = _winner;
    SET _waiters = _waiters - 1;
    IF _whom = _asking AND _whom <> '-' THEN
      SET _told = CONCAT_WS(' ', _tag, _news, 'h', _winner, CEIL((_expires - _now) / 1000),
        _waiters, '- released', _number);
    ELSE
      CALL holdfast_rouse(_whom, _rings);
    END IF;
  END IF;
  IF _next IS NOT NULL AND _next_news IS NULL THEN
    UPDATE holdfast_claim SET news = _now WHERE resource = _name AND number = _next;
  END IF;
  UPDATE holdfast_resource SET crowd = _winner IS NOT NULL, waiters = _waiters, ended = NULL,
    ended_by = _number
  WHERE name = _name;
  SET _line = '1';
END //

-- The long way of a release: with a tombstone where a copy of the claim may still come, or later.
DROP PROCEDURE IF EXISTS holdfast_leave //
CREATE PROCEDURE holdfast_leave(
  _name VARBINARY(1280), _id CHAR(32) CHARSET ascii, _ttl INT UNSIGNED, _unanswered BOOLEAN,
  _after BIGINT, _now BIGINT, _open_at BIGINT, INOUT _rings LONGTEXT CHARSET ascii,
  OUT _line LONGTEXT CHARSET utf8mb4
) SQL SECURITY INVOKER
BEGIN
  DECLARE _only CHAR(32) CHARSET ascii;
  DECLARE _number BIGINT;
  DECLARE _admitted BOOLEAN;
  DECLARE _sealed VARCHAR(8) CHARSET ascii;
  DECLARE CONTINUE HANDLER FOR NOT FOUND BEGIN END;
  CALL holdfast_settle(_name, _id, _now, _open_at, NULL, NULL, _rings);
  SELECT r.id INTO _only FROM holdfast_resource r WHERE r.name = _name;
  IF _only = _id THEN CALL holdfast_spread(_name); END IF;
  SELECT c.number, c.admitted, c.sealed INTO _number, _admitted, _sealed FROM holdfast_claim c
  WHERE c.id = _id AND c.resource = _name AND c.expires > _now;
  IF _number IS NULL OR _unanswered THEN
    CALL holdfast_bury(_name, _id, _now + _ttl * 1000, 'unknown', NULL);
  END IF;
  IF _number IS NOT NULL AND (_after <= 0 OR NOT _admitted) THEN
    CALL holdfast_depart(_name, _id, _number, _now, _open_at, _rings);
  ELSEIF _number IS NOT NULL AND _sealed IS NULL THEN
    UPDATE holdfast_claim SET sealed = 'unknown', expires = _now + _after * 1000
    WHERE resource = _name AND number = _number;
  END IF;
  CALL holdfast_save(_name);
  SET _line = IF(_number IS NULL, '0', '1');
END //

-- Leaves the queues, at once or `after` ms from now.
DROP PROCEDURE IF EXISTS holdfast_release //
CREATE PROCEDURE holdfast_release(
  _settings LONGTEXT CHARSET utf8mb4, _claims LONGTEXT CHARSET utf8mb4
) SQL SECURITY DEFINER
BEGIN
  DECLARE _now, _open_at, _highest BIGINT;
  -- A short one (UUID_SHORT) comes again when the server starts twice in a second.
  DECLARE _call BIGINT UNSIGNED DEFAULT CONV(LEFT(MD5(UUID()), 15), 16, 10);
  DECLARE _i, _done INT DEFAULT 0;
  DECLARE _line, _answers LONGTEXT CHARSET utf8mb4;
  DECLARE _claim, _told TEXT CHARSET utf8mb4;
  DECLARE _name VARBINARY(1280);
  DECLARE _id CHAR(32) CHARSET ascii;
  DECLARE _after BIGINT;
  DECLARE _unanswered BOOLEAN;
  DECLARE _rings LONGTEXT CHARSET ascii DEFAULT '';
  DECLARE _busy TEXT CHARSET ascii;
  DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;
  CALL holdfast_begin(_settings, _now, _open_at, _highest);
  CALL holdfast_take(_settings, _claims, _busy);
  INSERT INTO holdfast_resource (name, kind, number)
  SELECT CAST(c.resource AS BINARY), 'm', 0
  FROM JSON_TABLE(_claims, '$[*]' COLUMNS (
    i FOR ORDINALITY, resource VARCHAR(1280) CHARSET utf8mb4 PATH '$.resource',
    id CHAR(32) PATH '$.id',
    unanswered BOOLEAN PATH '$.unanswered', after_ms BIGINT PATH '$.after'
  )) AS c
  ORDER BY CAST(c.resource AS BINARY), c.i
  ON DUPLICATE KEY UPDATE
    done_by = IF(holdfast_resource.id = c.id AND expires > _now AND NOT c.unanswered
      AND c.after_ms <= 0, _call + c.i, done_by),
    holdfast_resource.id = IF(done_by = _call + c.i, NULL, holdfast_resource.id);
  SELECT JSON_OBJECTAGG(c.i, '1'), COUNT(*) INTO _answers, _done
  FROM JSON_TABLE(_claims, '$[*]' COLUMNS (
    i FOR ORDINALITY, resource VARCHAR(1280) CHARSET utf8mb4 PATH '$.resource'
  )) AS c
  STRAIGHT_JOIN holdfast_resource r
    ON r.name = CAST(c.resource AS BINARY) AND r.done_by = _call + c.i;
  IF _done < JSON_LENGTH(_claims) THEN
    SET _answers = COALESCE(_answers, '{}');
    CALL holdfast_micros(_now);
    WHILE _i < JSON_LENGTH(_claims) DO
      IF JSON_EXTRACT(_answers, CONCAT('$."', _i + 1, '"')) IS NULL THEN
        SET _claim = JSON_EXTRACT(_claims, CONCAT('$[', _i, ']')), _line = NULL,
          _name = CAST(JSON_UNQUOTE(JSON_EXTRACT(_claim, '$.resource')) AS BINARY),
          _id = JSON_UNQUOTE(JSON_EXTRACT(_claim, '$.id')),
          _after = JSON_EXTRACT(_claim, '$.after'),
          _unanswered = JSON_UNQUOTE(JSON_EXTRACT(_claim, '$.unanswered')) = 'true';
        IF NOT _unanswered AND _after <= 0 AND _now >= _open_at THEN
          CALL holdfast_pass(_name, _id, '-', _rings, _line, _told);
        END IF;
        IF _line IS NULL THEN
          CALL holdfast_leave(_name, _id, JSON_EXTRACT(_claim, '$.ttl'), _unanswered, _after, _now,
            _open_at, _rings, _line);
        END IF;
        SET _answers = JSON_SET(_answers, CONCAT('$."', _i + 1, '"'), _line);
      END IF;
      SET _i = _i + 1;
    END WHILE;
  END IF;
  COMMIT;
  IF _rings <> '' THEN CALL holdfast_ring(_settings, _rings); END IF;
  SELECT _answers, _busy;
END //

-- The same for one claim, in plain values. Where nobody is granted anything, nothing need be known
-- of lost data. The answer has news for the process that asks, if there is some.
DROP PROCEDURE IF EXISTS holdfast_release_one //
CREATE PROCEDURE holdfast_release_one(
  _settings LONGTEXT CHARSET utf8mb4, _name VARBINARY(1280), _id CHAR(32) CHARSET ascii,
  _ttl INT UNSIGNED, _unanswered BOOLEAN, _after BIGINT, _asking VARCHAR(32) CHARSET ascii
) SQL SECURITY DEFINER
release_one: BEGIN
  DECLARE _now, _open_at, _highest BIGINT;
  DECLARE _recorded BOOLEAN;
  DECLARE _line, _told LONGTEXT CHARSET utf8mb4;
  DECLARE _rings LONGTEXT CHARSET ascii DEFAULT '';
  DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;
  CALL holdfast_open(_settings);
  CALL holdfast_await(_settings, _name);
  IF NOT _unanswered AND _after <= 0 THEN
    SET _now = TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6));
    UPDATE holdfast_resource SET id = NULL WHERE name = _name AND id = _id AND expires > _now;
    IF ROW_COUNT() = 1 THEN
      COMMIT;
      SELECT '1';
      LEAVE release_one;
    END IF;
    CALL holdfast_known(_settings, _now, _open_at, _highest, _recorded);
    IF _recorded AND _now >= _open_at THEN
      CALL holdfast_pass(_name, _id, _asking, _rings, _line, _told);
    END IF;
  END IF;
  IF _line IS NULL THEN
    COMMIT;
    CALL holdfast_begin(_settings, _now, _open_at, _highest);
    CALL holdfast_await(_settings, _name);
    INSERT INTO holdfast_resource (name, kind, number) VALUES (_name, 'm', 0)
    ON DUPLICATE KEY UPDATE done_by = done_by;
    CALL holdfast_micros(_now);
    CALL holdfast_leave(_name, _id, _ttl, _unanswered, _after, _now, _open_at, _rings, _line);
  END IF;
  COMMIT;
  IF _rings <> '' THEN CALL holdfast_ring(_settings, _rings); END IF;
  SELECT _line, _told;
END //

-- The rarer verbs, on one claim.
DROP PROCEDURE IF EXISTS holdfast_change //
CREATE PROCEDURE holdfast_change(
  _settings LONGTEXT CHARSET utf8mb4, _change LONGTEXT CHARSET utf8mb4
) SQL SECURITY DEFINER
change_claim: BEGIN
  DECLARE _now, _open_at, _highest, _number, _by, _news BIGINT;
  DECLARE _name VARBINARY(1280)
    DEFAULT CAST(JSON_UNQUOTE(JSON_EXTRACT(_change, '$.resource')) AS BINARY);
  DECLARE _verb VARCHAR(16) CHARSET ascii DEFAULT JSON_UNQUOTE(JSON_EXTRACT(_change, '$.verb'));
  DECLARE _id, _only CHAR(32) CHARSET ascii;
  DECLARE _reason TEXT CHARSET utf8mb4 DEFAULT JSON_UNQUOTE(JSON_EXTRACT(_change, '$.reason'));
  DECLARE _admitted BOOLEAN;
  DECLARE _kind CHAR(1) CHARSET ascii;
  DECLARE _ttl INT UNSIGNED;
  DECLARE _address, _tag VARCHAR(32) CHARSET ascii;
  DECLARE _line LONGTEXT CHARSET utf8mb4;
  DECLARE _rings LONGTEXT CHARSET ascii DEFAULT '';
  DECLARE CONTINUE HANDLER FOR NOT FOUND BEGIN END;
  DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;
  SET _id = JSON_UNQUOTE(JSON_EXTRACT(_change, '$.id'));
  SET _by = JSON_UNQUOTE(JSON_EXTRACT(_change, '$.number'));
  CALL holdfast_begin(_settings, _now, _open_at, _highest);
  CALL holdfast_await(_settings, _name);
  SELECT r.id, r.number INTO _only, _number FROM holdfast_resource r WHERE r.name = _name
  FOR UPDATE;
  -- A name without a row has no claims, and nothing is locked: whoever comes meanwhile is not seen.
  IF _number IS NULL THEN
    CALL holdfast_missing(_id, _now, _open_at, _line);
    COMMIT;
    SELECT IF(_verb = 'evict', '0', _line);
    LEAVE change_claim;
  END IF;
  CALL holdfast_micros(_now);
  CALL holdfast_settle(_name, _id, _now, _open_at, NULL, NULL, _rings);
  IF _only = _id OR _only IS NOT NULL AND _number = _by THEN CALL holdfast_spread(_name); END IF;
  SET _number = NULL;
  IF _verb = 'evict' THEN
    SELECT c.number, c.id, c.admitted, c.ttl, c.address, c.tag,
      GREATEST(_now, COALESCE(c.news, 0) + 1)
    INTO _number, _id, _admitted, _ttl, _address, _tag, _news FROM holdfast_claim c
    WHERE c.resource = _name AND c.number = _by AND c.expires > _now;
    SET _line = IF(_number IS NULL, '0', '1');
    IF _number IS NOT NULL THEN
      UPDATE holdfast_claim SET sealed = 'evicted', detail = _reason, news = _news
      WHERE resource = _name AND number = _number;
      CALL holdfast_rouse(_address, _rings);
      IF JSON_UNQUOTE(JSON_EXTRACT(_change, '$.now')) = 'true' OR NOT _admitted THEN
        CALL holdfast_bury(_name, _id, _now + _ttl * 1000, 'evicted', _reason);
        UPDATE holdfast_grave SET address = _address, tag = _tag, news = _news WHERE id = _id;
        CALL holdfast_depart(_name, _id, _number, _now, _open_at, _rings);
      END IF;
    END IF;
  ELSE
    SELECT c.number, c.admitted, c.kind INTO _number, _admitted, _kind FROM holdfast_claim c
    WHERE c.id = _id AND c.resource = _name AND c.expires > _now;
    IF _number IS NULL THEN
      CALL holdfast_missing(_id, _now, _open_at, _line);
    ELSE
      IF _admitted AND _kind = 'w' THEN
        UPDATE holdfast_claim SET kind = 'r', permits = 1
        WHERE resource = _name AND number = _number;
        CALL holdfast_settle(_name, _id, _now, _open_at, NULL, NULL, _rings);
      END IF;
      CALL holdfast_close_ranks(_name, _number, _now);
      CALL holdfast_status(_name, _number, _now, _open_at, _line);
    END IF;
  END IF;
  CALL holdfast_save(_name);
  COMMIT;
  IF _rings <> '' THEN CALL holdfast_ring(_settings, _rings); END IF;
  SELECT _line;
END //

-- What is over goes, so many at a time, and nobody is waited for.
DROP PROCEDURE IF EXISTS holdfast_forget //
CREATE PROCEDURE holdfast_forget(_now BIGINT, _most INT) SQL SECURITY INVOKER
BEGIN
  DECLARE _name, _found VARBINARY(1280);
  DECLARE _over BOOLEAN DEFAULT FALSE;
  DECLARE _past CURSOR FOR
    SELECT k.name FROM holdfast_kept k WHERE k.until <= _now ORDER BY k.until LIMIT _most;
  DECLARE CONTINUE HANDLER FOR NOT FOUND SET _over = TRUE;
  OPEN _past;
  past: LOOP
    FETCH _past INTO _name;
    IF _over THEN LEAVE past; END IF;
    SET _found = NULL;
    SELECT k.name INTO _found FROM holdfast_kept k WHERE k.name = _name AND k.until <= _now
    FOR UPDATE SKIP LOCKED;
    IF _found IS NOT NULL THEN DELETE FROM holdfast_kept WHERE name = _name; END IF;
    SET _over = FALSE;
  END LOOP;
  CLOSE _past;
END //

-- Keeps a text about the resource, or forgets it, if the claim is held: under the lock of the
-- resource, so nobody else can hold it before this is committed. Two that are over go with each one
-- that comes, so that there are never many more than are alive.
DROP PROCEDURE IF EXISTS holdfast_keep //
CREATE PROCEDURE holdfast_keep(
  _settings LONGTEXT CHARSET utf8mb4, _name VARBINARY(1280), _id CHAR(32) CHARSET ascii,
  _text TEXT CHARSET utf8mb4, _ms BIGINT
) SQL SECURITY DEFINER
keep: BEGIN
  DECLARE _now, _open_at, _highest, _number BIGINT;
  DECLARE CONTINUE HANDLER FOR NOT FOUND BEGIN END;
  DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;
  CALL holdfast_begin(_settings, _now, _open_at, _highest);
  CALL holdfast_await(_settings, _name);
  SELECT r.number INTO _number FROM holdfast_resource r WHERE r.name = _name FOR UPDATE;
  CALL holdfast_micros(_now);
  -- Without a row nothing is locked, and nobody holds.
  IF _number IS NOT NULL THEN
    SET _number = NULL;
    SELECT r.number INTO _number FROM holdfast_resource r
    WHERE r.name = _name AND r.id = _id AND r.expires > _now;
    SELECT c.number INTO _number FROM holdfast_claim c
    WHERE c.id = _id AND c.resource = _name AND c.admitted = TRUE AND c.expires > _now
      AND c.sealed IS NULL;
  END IF;
  IF _number IS NULL THEN
    COMMIT;
    SELECT '0';
    LEAVE keep;
  END IF;
  IF _ms > 0 THEN
    INSERT INTO holdfast_kept (name, content, until) VALUES (_name, _text, _now + _ms * 1000)
    ON DUPLICATE KEY UPDATE content = _text, until = _now + _ms * 1000;
  ELSE
    DELETE FROM holdfast_kept WHERE name = _name;
  END IF;
  CALL holdfast_forget(_now, 2);
  COMMIT;
  SELECT '1';
END //

-- What is kept, behind the ms for which it still is.
DROP PROCEDURE IF EXISTS holdfast_recall //
CREATE PROCEDURE holdfast_recall(_asked TEXT CHARSET utf8mb4) SQL SECURITY DEFINER
BEGIN
  DECLARE _now BIGINT;
  CALL holdfast_micros(_now);
  SELECT CONCAT(CEIL((k.until - _now) / 1000), ' ', k.content) FROM holdfast_kept k
  WHERE k.name = CAST(_asked AS BINARY) AND k.until > _now;
END //

-- The living claims of a resource, in order: for people.
DROP PROCEDURE IF EXISTS holdfast_inspect //
CREATE PROCEDURE holdfast_inspect(
  _settings LONGTEXT CHARSET utf8mb4, _asked TEXT CHARSET utf8mb4
) SQL SECURITY DEFINER
BEGIN
  DECLARE _now, _open_at, _highest BIGINT;
  DECLARE _name VARBINARY(1280);
  DECLARE _rings LONGTEXT CHARSET ascii DEFAULT '';
  DECLARE CONTINUE HANDLER FOR NOT FOUND BEGIN END;
  DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;
  CALL holdfast_begin(_settings, _now, _open_at, _highest);
  CALL holdfast_await(_settings, CAST(_asked AS BINARY));
  SELECT r.name INTO _name FROM holdfast_resource r WHERE r.name = CAST(_asked AS BINARY)
  FOR UPDATE;
  CALL holdfast_micros(_now);
  CALL holdfast_settle(_name, NULL, _now, _open_at, NULL, NULL, _rings);
  CALL holdfast_save(_name);
  COMMIT;
  IF _rings <> '' THEN CALL holdfast_ring(_settings, _rings); END IF;
  SELECT CONCAT_WS(' ', IF(c.admitted, 'h', 'w'), c.number, c.kind, c.permits, c.capacity, c.ttl,
    CEIL((c.expires - _now) / 1000), c.holder) AS line
  FROM (
    SELECT number, TRUE AS admitted, kind, permits, capacity, ttl, expires, holder
    FROM holdfast_resource WHERE name = _name AND id IS NOT NULL
    UNION ALL
    SELECT number, admitted, kind, permits, capacity, ttl, expires, holder
    FROM holdfast_claim WHERE resource = _name
  ) AS c
  WHERE c.expires > _now ORDER BY c.number;
END //

-- Resources that somebody holds or waits for, in the order of bytes.
DROP PROCEDURE IF EXISTS holdfast_names //
CREATE PROCEDURE holdfast_names(_after TEXT CHARSET utf8mb4, _most INT) SQL SECURITY DEFINER
BEGIN
  DECLARE _now BIGINT;
  CALL holdfast_micros(_now);
  SELECT CONVERT(r.name USING utf8mb4) AS name FROM holdfast_resource r
  WHERE r.name > CAST(_after AS BINARY) AND (r.id IS NOT NULL AND r.expires > _now
    OR r.crowd AND EXISTS (
      SELECT 1 FROM holdfast_claim c WHERE c.resource = r.name AND c.expires > _now
    ))
  ORDER BY r.name LIMIT _most;
END //

-- Where these claims stand that once waited, each behind its id, if they live.
DROP PROCEDURE IF EXISTS holdfast_look //
CREATE PROCEDURE holdfast_look(_ids LONGTEXT CHARSET utf8mb4) SQL SECURITY DEFINER
BEGIN
  DECLARE _now, _open_at, _number BIGINT;
  DECLARE _name VARBINARY(1280);
  DECLARE _id CHAR(32) CHARSET ascii;
  DECLARE _i INT DEFAULT 0;
  DECLARE _line, _answers LONGTEXT CHARSET utf8mb4 DEFAULT '[]';
  DECLARE CONTINUE HANDLER FOR NOT FOUND BEGIN END;
  SELECT open_at INTO _open_at FROM holdfast_store;
  CALL holdfast_micros(_now);
  WHILE _i < JSON_LENGTH(_ids) DO
    SET _id = JSON_UNQUOTE(JSON_EXTRACT(_ids, CONCAT('$[', _i, ']'))), _number = NULL;
    SELECT c.resource, c.number INTO _name, _number FROM holdfast_claim c
    WHERE c.id = _id AND c.expires > _now;
    IF _number IS NOT NULL THEN
      CALL holdfast_status(_name, _number, _now, _open_at, _line);
      SET _answers = JSON_ARRAY_APPEND(_answers, '$', CONCAT(_id, ' ', _line));
    END IF;
    SET _i = _i + 1;
  END WHILE;
  SELECT _answers;
END //

-- Tells the time, and for so many seconds all news since `since` that the process of this channel
-- has not seen, by tag and time, each in a result of its own that is sent at once. Who is rung for
-- is interrupted and calls again. That cannot be missed: news of a commit before this call is found
-- here, and what is rung later ends it. What nobody rings for is seen within a second. It waits for
-- the gate, a named lock of the process's other session, and so ends with that as well. (To
-- interrupt SLEEP stops MariaDB for 2 s, now and then.)
DROP PROCEDURE IF EXISTS holdfast_listen //
CREATE PROCEDURE holdfast_listen(
  _channel VARCHAR(64) CHARSET ascii, _gate VARCHAR(64) CHARSET ascii, _since BIGINT,
  _seen LONGTEXT CHARSET ascii, _seconds INT
) SQL SECURITY DEFINER
BEGIN
  DECLARE _now, _open_at, _number, _news BIGINT;
  DECLARE _name VARBINARY(1280);
  DECLARE _address VARCHAR(32) CHARSET ascii DEFAULT SUBSTRING_INDEX(_channel, '_', -1);
  DECLARE _tag VARCHAR(32) CHARSET ascii;
  DECLARE _over BOOLEAN DEFAULT FALSE;
  DECLARE _line LONGTEXT CHARSET utf8mb4;
  DECLARE _fresh CURSOR FOR
    SELECT c.resource, c.number, c.tag, c.news FROM holdfast_claim c
    WHERE c.address = _address AND c.news >= _since AND c.expires > _now
      AND LOCATE(CONCAT(' ', c.tag, ':', c.news, ' '), _seen) = 0
    UNION ALL
    SELECT NULL, NULL, g.tag, g.news FROM holdfast_grave g
    WHERE g.address = _address AND g.news >= _since
      AND LOCATE(CONCAT(' ', g.tag, ':', g.news, ' '), _seen) = 0;
  DECLARE CONTINUE HANDLER FOR NOT FOUND SET _over = TRUE;
  IF COALESCE(IS_USED_LOCK(_channel), 0) <> CONNECTION_ID()
    AND COALESCE(GET_LOCK(_channel, 2), 0) <> 1 THEN
    SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'The named lock of the channel is not to be had';
  END IF;
  SELECT open_at INTO _open_at FROM holdfast_store;
  CALL holdfast_micros(_now);
  SELECT _now;
  look: LOOP
    SET _over = FALSE;
    OPEN _fresh;
    news: LOOP
      FETCH _fresh INTO _name, _number, _tag, _news;
      IF _over THEN LEAVE news; END IF;
      SET _line = NULL;
      IF _number IS NOT NULL THEN
        CALL holdfast_status(_name, _number, _now, _open_at, _line);
      END IF;
      SELECT CONCAT_WS(' ', _tag, _news, _line);
      SET _seen = CONCAT(_seen, _tag, ':', _news, ' '), _over = FALSE;
    END LOOP;
    CLOSE _fresh;
    IF _seconds <= 0 THEN LEAVE look; END IF;
    IF GET_LOCK(_gate, 1) = 1 THEN
      DO RELEASE_LOCK(_gate);
      SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'The session that this one belongs to is over';
    END IF;
    SET _seconds = _seconds - 1;
    CALL holdfast_micros(_now);
  END LOOP;
END //

-- Forgets what nobody has needed for ten minutes, a portion of all names at a time, in their order:
-- returns `on` if there is more. One process sweeps at a time, takes only rows that are not locked,
-- and has them for a moment. After a round comes a pause of a minute or, where it found next to
-- nothing, of ten times its length up to ten minutes. Before a resource goes, the numbers that it
-- may have given are remembered, so that they are not given again if the clock goes back.
DROP PROCEDURE IF EXISTS holdfast_sweep //
CREATE PROCEDURE holdfast_sweep() SQL SECURITY DEFINER
BEGIN
  DECLARE _most INT DEFAULT 500;
  DECLARE _graves INT DEFAULT 0;
  DECLARE _minute BIGINT DEFAULT 60000000;
  DECLARE _now, _long_ago, _due, _began, _seen, _gone, _count, _number, _living BIGINT;
  DECLARE _mine, _over BOOLEAN DEFAULT FALSE;
  DECLARE _id, _found CHAR(32) CHARSET ascii;
  DECLARE _name, _after, _last VARBINARY(1280);
  DECLARE _old CURSOR FOR
    SELECT g.id FROM holdfast_grave g WHERE g.until < _now - 10 * _minute LIMIT _most;
  DECLARE _idle CURSOR FOR
    SELECT r.name FROM holdfast_resource r
    WHERE r.name > _after AND r.name <= _last AND r.number < _long_ago AND r.graves < _long_ago
      AND (r.id IS NULL OR r.expires < _long_ago)
    ORDER BY r.name;
  DECLARE CONTINUE HANDLER FOR NOT FOUND SET _over = TRUE;
  DECLARE EXIT HANDLER FOR SQLEXCEPTION BEGIN ROLLBACK; RESIGNAL; END;
  SET timestamp = DEFAULT;
  SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
  START TRANSACTION READ WRITE;
  CALL holdfast_micros(_now);
  SELECT TRUE, w.name, w.due, w.began, w.long_ago, w.seen, w.gone
  INTO _mine, _after, _due, _began, _long_ago, _seen, _gone
  FROM holdfast_sweeping w WHERE w.only_row = TRUE FOR UPDATE SKIP LOCKED;
  IF NOT _mine THEN
    -- A crash may have forgotten the row, where the server does not wait for its disk.
    SELECT COUNT(*) INTO _count FROM holdfast_sweeping;
    IF _count = 0 THEN
      INSERT IGNORE INTO holdfast_sweeping VALUES (TRUE, NULL, 0, 0, 0, 0, 0);
    END IF;
  END IF;
  -- A pause is no longer than that, unless the clock has gone back.
  IF _mine AND _after IS NULL AND _now NOT BETWEEN _due - 10 * _minute AND _due THEN
    SELECT s.highest INTO _number FROM holdfast_store s WHERE s.only_row = TRUE
    FOR UPDATE SKIP LOCKED;
    IF _number IS NOT NULL THEN
      SET _after = '', _began = _now, _long_ago = _now - 10 * _minute, _seen = 0, _gone = 0;
      UPDATE holdfast_store SET highest = GREATEST(highest, _long_ago) WHERE only_row = TRUE;
    END IF;
  END IF;
  IF _mine AND _after IS NOT NULL THEN
    SELECT MAX(s.name), COUNT(*) INTO _last, _count FROM (
      SELECT r.name FROM holdfast_resource r WHERE r.name > _after ORDER BY r.name LIMIT _most
    ) AS s;
    SET _over = FALSE;
    OPEN _idle;
    resources: LOOP
      FETCH _idle INTO _name;
      IF _over THEN LEAVE resources; END IF;
      SET _number = NULL;
      SELECT r.number INTO _number FROM holdfast_resource r
      WHERE r.name = _name AND r.number < _long_ago AND r.graves < _long_ago
        AND (r.id IS NULL OR r.expires < _long_ago)
      FOR UPDATE SKIP LOCKED;
      IF _number IS NOT NULL THEN
        SELECT COUNT(*) INTO _living FROM holdfast_claim c
        WHERE c.resource = _name AND c.expires >= _long_ago;
        IF _living = 0 THEN
          dead: LOOP
            SET _number = NULL;
            SELECT c.number INTO _number FROM holdfast_claim c WHERE c.resource = _name LIMIT 1;
            IF _number IS NULL THEN LEAVE dead; END IF;
            DELETE FROM holdfast_claim WHERE resource = _name AND number = _number;
          END LOOP;
          DELETE FROM holdfast_resource WHERE name = _name;
          SET _gone = _gone + 1;
        END IF;
      END IF;
      SET _over = FALSE;
    END LOOP;
    CLOSE _idle;
    SET _after = _last, _seen = _seen + _count;
    IF _count < _most THEN
      SET _after = NULL, _due = _now + IF(_gone * 20 > _seen, _minute,
        GREATEST(_minute, LEAST(10 * _minute, 10 * (_now - _began))));
    END IF;
    UPDATE holdfast_sweeping SET name = _after, due = _due, began = _began,
      long_ago = _long_ago, seen = _seen, gone = _gone
    WHERE only_row = TRUE;
  END IF;
  COMMIT;
  IF _mine THEN
    SET TRANSACTION ISOLATION LEVEL READ COMMITTED;
    START TRANSACTION READ WRITE;
    SET _over = FALSE;
    OPEN _old;
    graves: LOOP
      FETCH _old INTO _id;
      IF _over THEN LEAVE graves; END IF;
      SET _found = NULL;
      SELECT g.id INTO _found FROM holdfast_grave g WHERE g.id = _id
        AND g.until < _now - 10 * _minute
      FOR UPDATE SKIP LOCKED;
      IF _found IS NOT NULL THEN
        DELETE FROM holdfast_grave WHERE id = _id;
        SET _graves = _graves + 1;
      END IF;
      SET _over = FALSE;
    END LOOP;
    CLOSE _old;
    COMMIT;
    START TRANSACTION READ WRITE;
    CALL holdfast_forget(_now, _most);
    COMMIT;
  END IF;
  SELECT 'on' FROM DUAL WHERE _after IS NOT NULL OR _graves = _most;
END //

-- What a program has to know before it begins: the layout, and whether its sleep can be ended.
DROP PROCEDURE IF EXISTS holdfast_facts //
CREATE PROCEDURE holdfast_facts() SQL SECURITY DEFINER
BEGIN
  DECLARE _wakes BOOLEAN DEFAULT SUBSTRING_INDEX(USER(), '@', 1)
    = SUBSTRING_INDEX(CURRENT_USER(), '@', 1);
  IF NOT _wakes THEN
    SET _wakes = EXISTS (
      SELECT 1 FROM information_schema.user_privileges p
      WHERE p.grantee = CONCAT('''', REPLACE(CURRENT_USER(), '@', '''@'''), '''')
        AND p.privilege_type IN ('SUPER', 'CONNECTION ADMIN', 'CONNECTION_ADMIN')
    );
  END IF;
  SELECT CONCAT_WS(' ', s.layout, _wakes) AS facts FROM holdfast_store s;
END //
