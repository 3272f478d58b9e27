-- The tables of the locks: a row for each (see row.ts of the SQL stores), news for waiters, and the
-- signs that data was lost. The script leaves existing tables as they are, so it may run at any
-- time; columns that later versions add may be null. The database keeps nothing else, not even a
-- routine. Each statement is a transaction of its own and may be the last to run: the next
-- migration goes on from there.
-- Times are µs since 1970 by the server's clock. A number is place, token and public name in one.
SET NAMES utf8mb4;
SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION', time_zone = '+00:00';

CREATE TABLE IF NOT EXISTS holdfast_store (
  only_row BOOLEAN PRIMARY KEY,
  layout INT NOT NULL,
  -- The longest ttl that any program may ask for, in µs: nothing outlives a loss of data by more.
  max_ttl BIGINT NOT NULL,
  -- Until then only claims that trust are granted.
  open_at BIGINT NOT NULL,
  -- Above the numbers of all rows swept away.
  highest BIGINT NOT NULL,
  -- The server did not wait until commits were on disk.
  fast BOOLEAN NOT NULL,
  -- Whose data this is, on which server, and when that started: the words of history.ts.
  history VARCHAR(600) NOT NULL
) ENGINE = InnoDB, ROW_FORMAT = DYNAMIC, CHARACTER SET utf8mb4, COLLATE utf8mb4_bin;

-- A new store has lost nothing. Making the next tables brings this row to disk, even where the
-- server does not wait for commits.
-- It avoids the moment where two seconds meet (history.ts).
DO SLEEP(0.1 * (MICROSECOND(SYSDATE(6)) NOT BETWEEN 20000 AND 900000));
INSERT IGNORE INTO holdfast_store SELECT TRUE, 1, 0, 0, 0, FALSE, HISTORY;

CREATE TABLE IF NOT EXISTS holdfast_lock (
  name VARBINARY(1280) PRIMARY KEY,
  -- Grows with every write.
  rev BIGINT NOT NULL,
  -- What the last statement that takes a row or lines up in it did: h, w or -.
  step CHAR(1),
  -- The last number drawn here.
  last BIGINT NOT NULL,
  -- The holder of a plain lock.
  id CHAR(32),
  number BIGINT,
  -- When it ends; without a holder, when the row was last of use.
  until BIGINT NOT NULL,
  ttl INT UNSIGNED,
  kind CHAR(1),
  permits INT,
  capacity INT,
  -- The address of its process, and its own name there.
  tag VARCHAR(64),
  holder TEXT,
  -- How the hold before its own ended.
  ended VARCHAR(16),
  ended_by BIGINT,
  -- The waiters behind it: how many, and a line for each.
  waiters INT NOT NULL DEFAULT 0,
  crowd LONGTEXT NOT NULL,
  -- When the last of them ends unless it is renewed.
  tail BIGINT,
  -- The queue of a lock that is not plain.
  state LONGTEXT,
  -- The process of the holder, and when others last did something that concerns it; the process of
  -- the first waiter, and when it became first.
  told VARCHAR(40),
  next_told VARCHAR(40),
  KEY told (told),
  KEY next_told (next_told)
) ENGINE = InnoDB, ROW_FORMAT = DYNAMIC, CHARACTER SET utf8mb4, COLLATE utf8mb4_bin;

-- News of claims whose rows no longer show it, for a minute.
CREATE TABLE IF NOT EXISTS holdfast_news (
  at BIGINT NOT NULL,
  nth BIGINT NOT NULL,
  address VARCHAR(32) NOT NULL,
  message TEXT NOT NULL,
  PRIMARY KEY (at, nth),
  KEY address (address, at)
) ENGINE = InnoDB, ROW_FORMAT = DYNAMIC, CHARACTER SET utf8mb4, COLLATE utf8mb4_bin;

-- Records of finished work: they are in no queue, and outlive the claim.
CREATE TABLE IF NOT EXISTS holdfast_kept (
  name VARBINARY(1280) PRIMARY KEY,
  content TEXT CHARACTER SET utf8mb4 NOT NULL,
  until BIGINT NOT NULL,
  KEY until (until)
) ENGINE = InnoDB, ROW_FORMAT = DYNAMIC, CHARACTER SET ascii, COLLATE ascii_bin;
