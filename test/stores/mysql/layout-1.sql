-- The tables of layout 1, and the names of its procedures.
CREATE TABLE IF NOT EXISTS holdfast_store (
  only_row BOOLEAN PRIMARY KEY,
  layout INT NOT NULL,
  max_ttl BIGINT NOT NULL,
  open_at BIGINT NOT NULL,
  highest BIGINT NOT NULL,
  fast BOOLEAN NOT NULL,
  history VARCHAR(600) NOT NULL
) ENGINE = InnoDB, ROW_FORMAT = DYNAMIC, CHARACTER SET utf8mb4, COLLATE utf8mb4_bin;
CREATE TABLE IF NOT EXISTS holdfast_resource (
  name VARBINARY(1280) PRIMARY KEY,
  kind CHAR(1) NOT NULL,
  number BIGINT NOT NULL,
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
  graves BIGINT NOT NULL DEFAULT 0,
  ended VARCHAR(8),
  ended_by BIGINT,
  done_by BIGINT UNSIGNED NOT NULL DEFAULT 0
) ENGINE = InnoDB, ROW_FORMAT = DYNAMIC, CHARACTER SET ascii, COLLATE ascii_bin;
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
  sealed VARCHAR(8),
  detail TEXT CHARACTER SET utf8mb4,
  ended VARCHAR(8),
  ended_by BIGINT,
  news BIGINT,
  trusts BOOLEAN NOT NULL DEFAULT FALSE,
  PRIMARY KEY (resource, number),
  KEY queue (resource, admitted, number),
  KEY id (id),
  KEY news (address, news)
) ENGINE = InnoDB, ROW_FORMAT = DYNAMIC, CHARACTER SET ascii, COLLATE ascii_bin;
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
) ENGINE = InnoDB, ROW_FORMAT = DYNAMIC, CHARACTER SET ascii, COLLATE ascii_bin;
CREATE TABLE IF NOT EXISTS holdfast_kept (
  name VARBINARY(1280) PRIMARY KEY,
  content TEXT CHARACTER SET utf8mb4 NOT NULL,
  until BIGINT NOT NULL,
  KEY until (until)
) ENGINE = InnoDB, ROW_FORMAT = DYNAMIC, CHARACTER SET ascii, COLLATE ascii_bin;
CREATE TABLE IF NOT EXISTS holdfast_sweeping (
  only_row BOOLEAN PRIMARY KEY,
  name VARBINARY(1280),
  due BIGINT NOT NULL,
  began BIGINT NOT NULL,
  long_ago BIGINT NOT NULL,
  seen BIGINT NOT NULL,
  gone BIGINT NOT NULL
) ENGINE = InnoDB, ROW_FORMAT = DYNAMIC, CHARACTER SET ascii, COLLATE ascii_bin;
INSERT INTO holdfast_sweeping VALUES (TRUE, NULL, 0, 0, 0, 0, 0);
CREATE PROCEDURE holdfast_await() DO 0;
CREATE PROCEDURE holdfast_beat() DO 0;
CREATE PROCEDURE holdfast_begin() DO 0;
CREATE PROCEDURE holdfast_bury() DO 0;
CREATE PROCEDURE holdfast_change() DO 0;
CREATE PROCEDURE holdfast_claim() DO 0;
CREATE PROCEDURE holdfast_claim_one() DO 0;
CREATE PROCEDURE holdfast_close_ranks() DO 0;
CREATE PROCEDURE holdfast_depart() DO 0;
CREATE PROCEDURE holdfast_enter() DO 0;
CREATE PROCEDURE holdfast_facts() DO 0;
CREATE PROCEDURE holdfast_forget() DO 0;
CREATE PROCEDURE holdfast_history() DO 0;
CREATE PROCEDURE holdfast_inspect() DO 0;
CREATE PROCEDURE holdfast_join() DO 0;
CREATE PROCEDURE holdfast_keep() DO 0;
CREATE PROCEDURE holdfast_known() DO 0;
CREATE PROCEDURE holdfast_leave() DO 0;
CREATE PROCEDURE holdfast_listen() DO 0;
CREATE PROCEDURE holdfast_look() DO 0;
CREATE PROCEDURE holdfast_micros() DO 0;
CREATE PROCEDURE holdfast_missing() DO 0;
CREATE PROCEDURE holdfast_names() DO 0;
CREATE PROCEDURE holdfast_open() DO 0;
CREATE PROCEDURE holdfast_pass() DO 0;
CREATE PROCEDURE holdfast_recall() DO 0;
CREATE PROCEDURE holdfast_record() DO 0;
CREATE PROCEDURE holdfast_release() DO 0;
CREATE PROCEDURE holdfast_release_one() DO 0;
CREATE PROCEDURE holdfast_renew() DO 0;
CREATE PROCEDURE holdfast_renew_one() DO 0;
CREATE PROCEDURE holdfast_ring() DO 0;
CREATE PROCEDURE holdfast_rouse() DO 0;
CREATE PROCEDURE holdfast_save() DO 0;
CREATE PROCEDURE holdfast_settle() DO 0;
CREATE PROCEDURE holdfast_spread() DO 0;
CREATE PROCEDURE holdfast_status() DO 0;
CREATE PROCEDURE holdfast_sweep() DO 0;
CREATE PROCEDURE holdfast_take() DO 0;
