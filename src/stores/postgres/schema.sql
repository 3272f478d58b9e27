-- The tables of the locks: a row for each (see row.ts of the SQL stores), and the signs that data
-- was lost. The script leaves existing tables as they are, so it may run at any time; columns that
-- later versions add may be null. The database keeps nothing else, not even a function.
-- Times are µs since 1970 by the server's clock. A number is place, token and public name in one.
CREATE SCHEMA IF NOT EXISTS holdfast;

CREATE TABLE IF NOT EXISTS holdfast.store (
  single boolean PRIMARY KEY DEFAULT true CHECK (single),
  layout integer NOT NULL,
  -- The longest ttl that any program may ask for: nothing outlives a loss of data by more.
  max_ttl bigint NOT NULL,
  -- Until then only claims that trust are granted.
  open_at bigint NOT NULL,
  -- Above the numbers of all rows swept away.
  highest bigint NOT NULL,
  -- Some program does not wait until commits are on disk.
  fast boolean NOT NULL,
  -- Which history of which database this is.
  history text NOT NULL,
  -- Grows with every write but that of `highest`.
  rev bigint NOT NULL DEFAULT 0
);

-- The server empties it in a crash and on a standby: while its row is there, nothing was lost.
-- A restored row names another transaction than the one that wrote it. The row repeats what a claim
-- must know of the store, so that a claim reads one row.
CREATE UNLOGGED TABLE IF NOT EXISTS holdfast.witness (
  single boolean PRIMARY KEY DEFAULT true CHECK (single),
  written xid NOT NULL,
  max_ttl bigint NOT NULL,
  open_at bigint NOT NULL,
  highest bigint NOT NULL,
  fast boolean NOT NULL
);

CREATE TABLE IF NOT EXISTS holdfast.lock (
  name text COLLATE "C" PRIMARY KEY,
  -- Grows with every write.
  rev bigint NOT NULL,
  -- The last number drawn here.
  last bigint NOT NULL,
  -- The holder of a plain lock.
  id text,
  number bigint,
  -- When it ends; without a holder, when the row was last of use.
  until bigint NOT NULL,
  ttl integer,
  kind text,
  permits integer,
  capacity integer,
  -- The address of its process, and its own name there.
  tag text,
  holder text,
  -- How the hold before its own ended.
  ended text,
  ended_by bigint,
  -- The waiters behind it: how many, and a line for each.
  waiters integer NOT NULL DEFAULT 0,
  crowd text NOT NULL DEFAULT '',
  -- When the last of them ends unless renewed, and the same for the last before it.
  tail bigint,
  before_tail bigint,
  -- The queue of a lock that is not plain.
  state text
) WITH (fillfactor = 50);

-- Records of finished work: they are in no queue, and outlive the claim.
CREATE TABLE IF NOT EXISTS holdfast.kept (
  name text COLLATE "C" PRIMARY KEY,
  content text NOT NULL,
  until bigint NOT NULL
);
CREATE INDEX IF NOT EXISTS kept_until ON holdfast.kept (until);

DO $$
DECLARE
  server text := '?';
  timeline text := '?';
  copied text := '?';
BEGIN
  IF NOT EXISTS (
    SELECT FROM pg_attribute WHERE attrelid = 'holdfast.lock'::regclass AND attname = 'crowd'
      AND attstorage = 'e'
  ) THEN
    -- Statements read parts of it without the rest.
    ALTER TABLE holdfast.lock ALTER crowd SET STORAGE EXTERNAL;
  END IF;
  -- The words of history.ts: a standby promoted before it has heard of the first program must know
  -- that it was a standby.
  BEGIN
    server := (pg_control_system()).system_identifier;
  EXCEPTION WHEN OTHERS THEN NULL;
  END;
  BEGIN
    timeline := left(pg_walfile_name(pg_current_wal_lsn()), 8);
  EXCEPTION WHEN OTHERS THEN NULL;
  END;
  BEGIN
    copied := coalesce((SELECT extract(epoch FROM coalesce(f.change, f.modification))::text
      FROM pg_stat_file('backup_label.old', true) AS f), '-');
  EXCEPTION WHEN OTHERS THEN NULL;
  END;
  INSERT INTO holdfast.store (layout, max_ttl, open_at, highest, fast, history)
  VALUES (1, 0, 0, 0, false, concat_ws(' ', server, timeline, copied,
    (SELECT d.oid FROM pg_database d WHERE d.datname = current_database()),
    'holdfast.store'::regclass::oid))
  ON CONFLICT DO NOTHING;
END $$;
