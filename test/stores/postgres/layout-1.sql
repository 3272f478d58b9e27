-- The tables of layout 1, and of their functions those that find out about lost data, and one more
-- that takes a row as its argument.
CREATE SCHEMA IF NOT EXISTS holdfast;
CREATE TABLE IF NOT EXISTS holdfast.store (
  single boolean PRIMARY KEY DEFAULT true CHECK (single),
  layout integer NOT NULL,
  max_ttl bigint NOT NULL,
  open_at bigint NOT NULL,
  highest bigint NOT NULL,
  fast boolean NOT NULL,
  history text NOT NULL
);
CREATE UNLOGGED TABLE IF NOT EXISTS holdfast.witness (
  single boolean PRIMARY KEY DEFAULT true CHECK (single),
  written xid
);
CREATE TABLE IF NOT EXISTS holdfast.resource (
  name text COLLATE "C" PRIMARY KEY,
  kind text NOT NULL,
  number bigint NOT NULL,
  crowd boolean NOT NULL DEFAULT false,
  id uuid,
  expires bigint,
  permits integer,
  capacity integer,
  ttl integer,
  address text,
  tag text,
  holder text,
  waiters integer NOT NULL DEFAULT 0,
  told bigint,
  graves bigint NOT NULL DEFAULT 0,
  ended text,
  ended_by bigint,
  concerns uuid[]
) WITH (fillfactor = 50);
CREATE TABLE IF NOT EXISTS holdfast.claim (
  resource text COLLATE "C" NOT NULL,
  number bigint NOT NULL,
  id uuid NOT NULL UNIQUE,
  admitted boolean NOT NULL,
  expires bigint NOT NULL,
  kind text NOT NULL,
  permits integer NOT NULL,
  capacity integer NOT NULL,
  ttl integer NOT NULL,
  address text NOT NULL,
  tag text NOT NULL,
  holder text NOT NULL,
  sealed text,
  detail text,
  ended text,
  ended_by bigint,
  trusts boolean,
  PRIMARY KEY (resource, number)
) WITH (fillfactor = 70);
CREATE TABLE IF NOT EXISTS holdfast.grave (
  id uuid PRIMARY KEY,
  until bigint NOT NULL,
  why text NOT NULL,
  detail text
);
CREATE TABLE IF NOT EXISTS holdfast.kept (
  name text COLLATE "C" PRIMARY KEY,
  content text NOT NULL,
  until bigint NOT NULL
);
CREATE INDEX IF NOT EXISTS kept_until ON holdfast.kept (until);
CREATE INDEX IF NOT EXISTS grave_until ON holdfast.grave (until);
CREATE TABLE IF NOT EXISTS holdfast.sweeping (
  single boolean PRIMARY KEY DEFAULT true CHECK (single),
  name text COLLATE "C",
  due bigint NOT NULL DEFAULT 0,
  began bigint NOT NULL DEFAULT 0,
  long_ago bigint NOT NULL DEFAULT 0,
  seen bigint NOT NULL DEFAULT 0,
  gone bigint NOT NULL DEFAULT 0
);
INSERT INTO holdfast.sweeping DEFAULT VALUES ON CONFLICT DO NOTHING;
CREATE OR REPLACE FUNCTION holdfast.micros() RETURNS bigint
LANGUAGE sql VOLATILE AS $$
  SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint
$$;
CREATE OR REPLACE FUNCTION holdfast.history() RETURNS text
LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  server text := '?';
  timeline text := '?';
  copied text := '-';
BEGIN
  BEGIN
    server := (pg_control_system()).system_identifier;
  EXCEPTION WHEN OTHERS THEN NULL;
  END;
  BEGIN
    timeline := left(pg_walfile_name(pg_current_wal_lsn()), 8);
  EXCEPTION WHEN OTHERS THEN NULL;
  END;
  BEGIN
    SELECT coalesce(extract(epoch FROM coalesce(f.change, f.modification))::text, '-') INTO copied
    FROM pg_stat_file('backup_label.old', true) AS f;
  EXCEPTION WHEN OTHERS THEN NULL;
  END;
  RETURN concat_ws(' ', server, timeline, copied,
    (SELECT d.oid FROM pg_database d WHERE d.datname = current_database()),
    'holdfast.store'::regclass::oid);
END $$;
INSERT INTO holdfast.store (layout, max_ttl, open_at, highest, fast, history)
VALUES (1, 0, 0, 0, false, holdfast.history()) ON CONFLICT DO NOTHING;
CREATE OR REPLACE FUNCTION holdfast.layout() RETURNS integer
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  s holdfast.store;
BEGIN
  SELECT * INTO s FROM holdfast.store;
  IF s.history <> holdfast.history() THEN DELETE FROM holdfast.witness; END IF;
  RETURN s.layout;
END $$;
CREATE OR REPLACE FUNCTION holdfast.hidden() RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT strpos(history, '?') > 0 FROM holdfast.store
$$;
CREATE OR REPLACE FUNCTION holdfast.record(settings json) RETURNS holdfast.store
LANGUAGE plpgsql AS $$
DECLARE
  s holdfast.store;
  present text := holdfast.history();
  intact boolean;
  lost boolean;
BEGIN
  PERFORM set_config('synchronous_commit', 'on', true);
  SELECT * INTO s FROM holdfast.store FOR UPDATE;
  intact := EXISTS (SELECT FROM holdfast.witness w WHERE w.written = w.xmin);
  lost := s.history <> present
    OR NOT intact AND (s.fast OR EXISTS (SELECT FROM holdfast.witness)
      OR s.max_ttl > 0 AND strpos(present, '?') > 0);
  s.max_ttl := greatest(s.max_ttl, (settings->>'maxTtl')::bigint * 1000);
  IF lost THEN
    s.open_at := holdfast.micros() + s.max_ttl;
  END IF;
  IF NOT intact THEN
    DELETE FROM holdfast.witness;
    INSERT INTO holdfast.witness VALUES (true);
    UPDATE holdfast.witness SET written = xmin;
  END IF;
  s.fast := s.fast OR (settings->>'fast')::boolean;
  s.history := present;
  UPDATE holdfast.store SET max_ttl = s.max_ttl, open_at = s.open_at, fast = s.fast,
    history = s.history;
  RETURN s;
END $$;
CREATE OR REPLACE FUNCTION holdfast.prepare(patience text, fast boolean) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE
  done text := set_config('lock_timeout', patience, true);
BEGIN
  IF fast THEN
    done := set_config('synchronous_commit', 'off', true);
  ELSIF current_setting('synchronous_commit') = 'off' THEN
    done := set_config('synchronous_commit', 'on', true);
  END IF;
  RETURN true;
END $$;
CREATE OR REPLACE FUNCTION holdfast.spread(INOUT r holdfast.resource)
LANGUAGE plpgsql AS $$
BEGIN
  IF r.id IS NOT NULL THEN
    INSERT INTO holdfast.claim (resource, number, id, admitted, expires, kind, permits, capacity,
      ttl, address, tag, holder)
    VALUES (r.name, r.number, r.id, true, r.expires, r.kind, r.permits, r.capacity,
      r.ttl, r.address, r.tag, r.holder);
    r.id := NULL;
  END IF;
  r.crowd := true;
END $$;
