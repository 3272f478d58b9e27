-- The queues of claims, and all that may be done with them: each verb is one call of one function.
--
-- Invariant: the admitted claims of a resource are a prefix of its living ones in order of arrival,
-- and after every call whoever was in somebody's way and is dead has gone and everybody who fits is
-- admitted (admission.ts). It holds because each verb locks the rows of all its resources first:
-- whatever concerns a resource happens under its row's lock. A batch takes those that are free and
-- waits for none (`take`); one claim alone waits for its row. So the store's own verbs cannot wait for
-- each other in a circle, nor for a row that is not theirs, and a session at REPEATABLE
-- READ or SERIALIZABLE gets 40001 instead of a stale queue. One statement does what is common,
-- for the whole batch: to take an idle resource, or to renew or release the only claim, which is
-- kept in the resource's row itself; of several claims of one resource, for the first. The rest goes
-- the long way, claim by claim, in their order. A claim that comes alone is spared JSON, and where
-- one holds and others wait, a short way in and out of the queue: `claim_one`, `release_one`. A
-- release that does not find its claim in the row locks it then, and decides under that lock.
-- The clock is read after the lock is taken, and tombstones are looked for in a later statement:
-- a statement's snapshot is older than the lock that it waits for. Nobody is told before COMMIT.
-- Nothing costs more when more wait: the row counts the waiters, and only those in front are read.
-- After a loss of data each claim is let in when the wait is over, or if it trusts. A program that
-- trusts records the loss as others do, so it shortens nobody's wait: it only marks its own claims.
-- They pass nobody, for a place is a token, and the later holder must have the greater one: behind
-- a claim that waits all wait, those that trust as well, readers behind readers, permits that fit.
-- What breaks it: a writer who does not take the lock of the resource first, or a commit that the
-- server forgets, or that is missing in a copy (`layout` and `begin` notice that, and everybody
-- waits until whatever is missing is over).
-- Times are µs since 1970 by the server's clock. A number is place, token and public name in one.
CREATE SCHEMA IF NOT EXISTS holdfast;

CREATE TABLE IF NOT EXISTS holdfast.store (
  single boolean PRIMARY KEY DEFAULT true CHECK (single),
  layout integer NOT NULL,
  -- The longest ttl that any program may ask for, in µs: nothing outlives a loss of data by more.
  max_ttl bigint NOT NULL,
  -- Until then nothing is granted but to claims that trust.
  open_at bigint NOT NULL,
  -- Above the numbers of all resources that have been swept away.
  highest bigint NOT NULL,
  -- Some program does not wait for its commits to be on disk.
  fast boolean NOT NULL,
  -- Which history of which database this is.
  history text NOT NULL
);

-- The server empties it in a crash, and on a standby: while its row is there, nothing was lost.
-- A row that was restored was written by another transaction than it says.
CREATE UNLOGGED TABLE IF NOT EXISTS holdfast.witness (
  single boolean PRIMARY KEY DEFAULT true CHECK (single),
  written xid
);

CREATE TABLE IF NOT EXISTS holdfast.resource (
  name text COLLATE "C" PRIMARY KEY,
  kind text NOT NULL,
  -- The last one that was drawn here.
  number bigint NOT NULL,
  -- The claims are in the table of claims; otherwise there is one at most, and it is here.
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
  -- The first waiter that knows of being the first.
  told bigint,
  -- Some of its tombstones hold until then.
  graves bigint NOT NULL DEFAULT 0,
  -- How the last hold ended, where nobody holds.
  ended text,
  ended_by bigint,
  -- Never kept: the claim that a verb asks about, and then the claims that are to be told.
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
  -- Why it takes no more heartbeats.
  sealed text,
  detail text,
  -- How the hold before its own ended.
  ended text,
  ended_by bigint,
  -- It is let in although data was lost. Claims from before there was this column do not say so.
  trusts boolean,
  PRIMARY KEY (resource, number)
) WITH (fillfactor = 70);

-- Tables of before: only then, for it waits for whoever reads, and everybody waits behind it.
DO $$ BEGIN
  IF NOT EXISTS (
    SELECT FROM pg_attribute WHERE attrelid = 'holdfast.witness'::regclass AND attname = 'written'
  ) THEN
    ALTER TABLE holdfast.witness ADD COLUMN written xid;
  END IF;
  IF NOT EXISTS (
    SELECT FROM pg_attribute WHERE attrelid = 'holdfast.claim'::regclass AND attname = 'trusts'
  ) THEN
    ALTER TABLE holdfast.claim ADD COLUMN trusts boolean;
  END IF;
END $$;

-- What a late copy of a claim that has left is told.
CREATE TABLE IF NOT EXISTS holdfast.grave (
  id uuid PRIMARY KEY,
  until bigint NOT NULL,
  why text NOT NULL,
  detail text
);

-- What is kept about work that is done: it is in no queue, and outlives the claim. Tables of before
-- go on without it.
CREATE TABLE IF NOT EXISTS holdfast.kept (
  name text COLLATE "C" PRIMARY KEY,
  content text NOT NULL,
  until bigint NOT NULL
);
CREATE INDEX IF NOT EXISTS kept_until ON holdfast.kept (until);

CREATE INDEX IF NOT EXISTS grave_until ON holdfast.grave (until);

-- How far the sweep has come. Whoever sweeps has its row locked.
CREATE TABLE IF NOT EXISTS holdfast.sweeping (
  single boolean PRIMARY KEY DEFAULT true CHECK (single),
  -- The last name that was looked at; without one, a round is to begin when it is due.
  name text COLLATE "C",
  due bigint NOT NULL DEFAULT 0,
  began bigint NOT NULL DEFAULT 0,
  -- What nobody has needed since then goes.
  long_ago bigint NOT NULL DEFAULT 0,
  -- Names of this round, and those of them that went.
  seen bigint NOT NULL DEFAULT 0,
  gone bigint NOT NULL DEFAULT 0
);
INSERT INTO holdfast.sweeping DEFAULT VALUES ON CONFLICT DO NOTHING;

CREATE OR REPLACE FUNCTION holdfast.micros() RETURNS bigint
LANGUAGE sql VOLATILE AS $$
  SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint
$$;

-- The server's identity, its timeline, when it was last started from a base backup, the database,
-- and the tables: whatever makes a copy changes one of them. `?` is what the server does not tell
-- the owner of this function; of base backups only a superuser is told, or who may read its files.
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

-- What comes first on a connection. In a copy of the database nobody has been a witness of what was
-- lost: `record` then looks further.
CREATE OR REPLACE FUNCTION holdfast.layout() RETURNS integer
LANGUAGE plpgsql VOLATILE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  s holdfast.store;
BEGIN
  SELECT * INTO s FROM holdfast.store;
  IF s.history <> holdfast.history() THEN DELETE FROM holdfast.witness; END IF;
  RETURN s.layout;
END $$;

-- The server does not tell enough of its history to know a crash from a loss of data.
CREATE OR REPLACE FUNCTION holdfast.hidden() RETURNS boolean
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT strpos(history, '?') > 0 FROM holdfast.store
$$;

-- Somebody asks for more than is recorded, or the witness is none. Data may be lost if this is
-- another history: that of a standby, or of a copy; if the witness was restored; and if the server
-- emptied it, where commits were not waited for, or where the history cannot be told.
CREATE OR REPLACE FUNCTION holdfast.record(settings json) RETURNS holdfast.store
LANGUAGE plpgsql AS $$
DECLARE
  s holdfast.store;
  present text := holdfast.history();
  intact boolean;
  lost boolean;
BEGIN
  -- What is recorded here must not be lost with what relies on it.
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

-- How this transaction waits and commits. What is assigned needs no statement of its own.
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

-- What comes first in every verb, once: how this transaction waits and commits, and whether data is
-- lost. A second time would undo that what is recorded is waited for.
CREATE OR REPLACE FUNCTION holdfast.begin(
  settings text, patience text, max_ttl bigint, fast boolean
) RETURNS holdfast.store
LANGUAGE plpgsql AS $$
DECLARE
  s holdfast.store;
  ready boolean := holdfast.prepare(patience, fast);
BEGIN
  SELECT known.* INTO s FROM holdfast.store known, holdfast.witness w
  WHERE w.written = w.xmin AND known.max_ttl >= begin.max_ttl * 1000
    AND known.fast >= begin.fast;
  IF NOT FOUND THEN RETURN holdfast.record(settings::json); END IF;
  RETURN s;
END $$;

CREATE OR REPLACE FUNCTION holdfast.begin(settings json) RETURNS holdfast.store
LANGUAGE plpgsql AS $$
BEGIN
  RETURN holdfast.begin(settings::text, settings->>'patience', (settings->>'maxTtl')::bigint,
    (settings->>'fast')::boolean);
END $$;

CREATE OR REPLACE FUNCTION holdfast.missing(asked uuid, now bigint, open boolean) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
  grave holdfast.grave;
BEGIN
  SELECT * INTO grave FROM holdfast.grave WHERE id = asked AND until > now;
  IF FOUND THEN RETURN format('g %s %s', grave.why, grave.detail); END IF;
  RETURN CASE WHEN open THEN 'g expired ' ELSE 'g store-reset ' END;
END $$;

-- The claim that stood alone gets company.
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

-- Where a claim of the crowd stands.
CREATE OR REPLACE FUNCTION holdfast.status(
  c holdfast.claim, r holdfast.resource, now bigint, open_at bigint
) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
  left_ms bigint := ceil((c.expires - now) / 1000.0);
  held record;
  capacity integer;
  before bigint;
  retry bigint;
BEGIN
  IF c.sealed IS NOT NULL THEN RETURN format('g %s %s', c.sealed, c.detail); END IF;
  SELECT count(*) AS count, min(h.capacity) AS capacity, min(h.expires) AS death INTO held
  FROM holdfast.claim h WHERE h.resource = r.name AND h.admitted;
  capacity := CASE WHEN held.capacity < c.capacity THEN held.capacity END;
  IF c.admitted THEN
    RETURN format('h %s %s %s %s %s %s', c.number, left_ms, r.waiters, coalesce(capacity::text, '-'),
      coalesce(c.ended, '-'), coalesce(c.ended_by, 0));
  END IF;
  -- Exact where it is short; a long queue is not counted for each who waits in it.
  SELECT count(*) INTO before FROM (
    SELECT FROM holdfast.claim w
    WHERE w.resource = r.name AND NOT w.admitted AND w.number < c.number LIMIT 101
  ) AS counted;
  IF before > 100 THEN before := greatest(before, r.waiters - 1); END IF;
  IF open_at > now AND c.trusts IS NOT TRUE THEN
    RETURN format('w %s %s %s data-loss %s', left_ms, held.count + before,
      coalesce(capacity::text, '-'), ceil((open_at - now) / 1000.0));
  END IF;
  -- The first waits for the earliest death of a holder, others for that of the one before.
  SELECT w.expires INTO retry FROM holdfast.claim w
  WHERE w.resource = r.name AND NOT w.admitted AND w.number < c.number AND w.expires > now
  ORDER BY w.number DESC LIMIT 1;
  RETURN format('w %s %s %s queue %s', left_ms, held.count + before, coalesce(capacity::text, '-'),
    ceil((coalesce(retry, held.death, now) - now) / 1000.0));
END $$;

-- Whoever died right before this waiting claim, where only he could see it, goes.
CREATE OR REPLACE FUNCTION holdfast.close_ranks(
  INOUT r holdfast.resource, c holdfast.claim, now bigint
)
LANGUAGE plpgsql AS $$
DECLARE
  before holdfast.claim;
BEGIN
  LOOP
    SELECT * INTO before FROM holdfast.claim w
    WHERE w.resource = r.name AND w.number < c.number ORDER BY w.number DESC LIMIT 1;
    EXIT WHEN NOT FOUND OR c.admitted OR before.admitted OR before.expires > now;
    DELETE FROM holdfast.claim w WHERE w.id = before.id;
    r.waiters := r.waiters - 1;
  END LOOP;
END $$;

-- Whoever is dead and in the way goes, whoever fits is admitted, in order. `how` and `by` say which
-- hold has just ended.
CREATE OR REPLACE FUNCTION holdfast.settle(
  INOUT r holdfast.resource, now bigint, open boolean, how text DEFAULT NULL, by bigint DEFAULT NULL
)
LANGUAGE plpgsql AS $$
DECLARE
  held record;
  next holdfast.claim;
BEGIN
  IF NOT r.crowd THEN
    IF r.id IS NULL OR r.expires > now THEN RETURN; END IF;
    r := holdfast.spread(r);
  END IF;
  SELECT count(*) AS count, coalesce(sum(permits), 0) AS used, min(capacity) AS capacity,
    min(expires) AS death
  INTO held FROM holdfast.claim WHERE resource = r.name AND admitted;
  -- How a hold ended concerns who is admitted in the same step, or comes next where nobody holds.
  IF held.count > 0 OR r.ended = 'released' THEN r.ended := NULL; END IF;
  IF how IS NOT NULL THEN
    r.ended := how;
    r.ended_by := by;
  END IF;
  IF held.death <= now THEN
    WITH dead AS (
      DELETE FROM holdfast.claim WHERE resource = r.name AND admitted AND expires <= now
      RETURNING number, sealed
    )
    SELECT number, CASE sealed WHEN 'evicted' THEN 'evicted' WHEN 'unknown' THEN 'released'
      ELSE 'expired' END
    INTO r.ended_by, r.ended FROM dead ORDER BY number DESC LIMIT 1;
    SELECT count(*) AS count, coalesce(sum(permits), 0) AS used, min(capacity) AS capacity
    INTO held FROM holdfast.claim WHERE resource = r.name AND admitted;
  END IF;
  LOOP
    SELECT * INTO next FROM holdfast.claim
    WHERE resource = r.name AND NOT admitted ORDER BY number LIMIT 1;
    EXIT WHEN NOT FOUND;
    IF next.expires <= now THEN
      DELETE FROM holdfast.claim WHERE id = next.id;
      r.waiters := r.waiters - 1;
      CONTINUE;
    END IF;
    IF NOT (open OR next.trusts IS TRUE)
      OR held.used + next.permits > least(held.capacity, next.capacity) THEN
      IF r.told IS DISTINCT FROM next.number THEN
        r.told := next.number;
        r.concerns := r.concerns || next.id;
      END IF;
      EXIT;
    END IF;
    UPDATE holdfast.claim SET admitted = true, ended = r.ended, ended_by = r.ended_by
    WHERE id = next.id;
    r.waiters := r.waiters - 1;
    held.count := held.count + 1;
    held.used := held.used + next.permits;
    held.capacity := least(held.capacity, next.capacity);
    r.concerns := r.concerns || next.id;
  END LOOP;
  r.crowd := held.count > 0 OR r.waiters > 0;
END $$;

-- Keeps what has become of the resource, and tells those whom it concerns but who asks.
CREATE OR REPLACE FUNCTION holdfast.save(
  r holdfast.resource, was holdfast.resource, asking uuid, now bigint, open_at bigint, wake text
) RETURNS void
LANGUAGE plpgsql AS $$
BEGIN
  IF r.ended = 'released' OR r.ended IS NOT NULL AND EXISTS (
    SELECT FROM holdfast.claim WHERE resource = r.name AND admitted
  ) THEN r.ended := NULL; END IF;
  IF r IS NOT DISTINCT FROM was THEN RETURN; END IF;
  UPDATE holdfast.resource SET kind = r.kind, number = r.number, crowd = r.crowd, id = r.id,
    waiters = r.waiters, told = r.told, graves = r.graves, ended = r.ended, ended_by = r.ended_by
  WHERE name = r.name;
  IF r.concerns IS NULL THEN RETURN; END IF;
  -- A reason may be of several lines, so who is sealed has to ask.
  PERFORM pg_notify(wake || c.address, c.tag || ' ' || CASE WHEN c.sealed IS NULL
    THEN holdfast.status(c, r, now, open_at) ELSE '?' END)
  FROM holdfast.claim c
  WHERE c.id = ANY (r.concerns) AND c.id IS DISTINCT FROM asking AND c.address <> '-';
END $$;

-- The row of a resource, whose lock is held.
CREATE OR REPLACE FUNCTION holdfast.load(asked text) RETURNS holdfast.resource
LANGUAGE plpgsql AS $$
DECLARE
  r holdfast.resource;
BEGIN
  SELECT * INTO r FROM holdfast.resource WHERE name = asked;
  r.concerns := NULL;
  RETURN r;
END $$;

-- The resource's row, locked, also if nobody has ever claimed it or it was swept away.
CREATE OR REPLACE FUNCTION holdfast.lock(asked text) RETURNS holdfast.resource
LANGUAGE plpgsql AS $$
DECLARE
  r holdfast.resource;
BEGIN
  SELECT * INTO r FROM holdfast.resource WHERE name = asked FOR UPDATE;
  IF NOT FOUND THEN
    INSERT INTO holdfast.resource AS made (name, kind, number) VALUES (asked, 'm', 0)
    ON CONFLICT (name) DO UPDATE SET kind = made.kind RETURNING made.* INTO r;
  END IF;
  RETURN r;
END $$;

-- Takes the rows with these names that are there and free. Returns the other names, or NULL.
CREATE OR REPLACE FUNCTION holdfast.others(names text[]) RETURNS text[]
LANGUAGE plpgsql AS $$
DECLARE
  left_over text[];
BEGIN
  WITH free AS MATERIALIZED (
    SELECT name FROM holdfast.resource WHERE name = ANY (names)
    ORDER BY name FOR UPDATE SKIP LOCKED
  )
  SELECT array_agg(n) INTO left_over FROM unnest(names) AS n WHERE n NOT IN (SELECT name FROM free);
  RETURN left_over;
END $$;

-- Takes the rows of a batch that are free, and waits for none of the others while it has some: the
-- calls of others would wait with it, for a row that is not theirs. A claim whose row is taken is not
-- asked about now: returns a line `b` with its place, and the claims that are left. Names without a
-- row are given one, in order; that waits only for calls that do the same, so never in a circle.
-- A claim that comes alone waits, with no row locked.
CREATE OR REPLACE FUNCTION holdfast.take(INOUT claims json, OUT busy text[])
LANGUAGE plpgsql AS $$
DECLARE
  names text[];
BEGIN
  IF json_array_length(claims) = 1 THEN RETURN; END IF;
  names := holdfast.others(ARRAY(
    SELECT DISTINCT c.resource FROM json_to_recordset(claims) AS c (resource text)));
  IF names IS NULL THEN RETURN; END IF;
  INSERT INTO holdfast.resource (name, kind, number)
  SELECT n, 'm', 0 FROM unnest(names) AS n ORDER BY n COLLATE "C"
  ON CONFLICT DO NOTHING;
  names := holdfast.others(names);
  IF names IS NULL THEN RETURN; END IF;
  SELECT array_agg('b ' || c.ordinality - 1) FILTER (WHERE c.value->>'resource' = ANY (names)),
    json_agg(c.value ORDER BY c.ordinality) FILTER (WHERE c.value->>'resource' <> ALL (names))
  INTO busy, claims FROM json_array_elements(claims) WITH ORDINALITY AS c;
END $$;

-- The long way of a claim that its resource's row could not take at once.
CREATE OR REPLACE FUNCTION holdfast.enter(
  c holdfast.claim, waits boolean, settings json, s holdfast.store
) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
  now bigint := holdfast.micros();
  open boolean := now >= s.open_at;
  r holdfast.resource := holdfast.load(c.resource);
  was holdfast.resource := r;
  own holdfast.claim;
  held record;
  answer text;
BEGIN
  IF r.graves > now THEN
    answer := holdfast.missing(c.id, now, true);
    IF answer <> 'g expired ' THEN RETURN answer; END IF;
    answer := NULL;
  END IF;
  IF r.id = c.id AND r.expires > now THEN
    RETURN format('h %s %s 0 - - 0', r.number, ceil((r.expires - now) / 1000.0));
  END IF;
  -- One that has died in the queue may not come back in its old place.
  DELETE FROM holdfast.claim WHERE id = c.id AND expires <= now AND NOT admitted;
  IF FOUND THEN r.waiters := r.waiters - 1; END IF;
  r := holdfast.settle(r, now, open);
  SELECT * INTO own FROM holdfast.claim WHERE id = c.id;
  IF FOUND THEN
    r := holdfast.close_ranks(r, own, now);
    answer := holdfast.status(own, r, now, s.open_at);
  ELSIF (r.crowd OR r.id IS NOT NULL) AND r.kind <> c.kind
    AND (r.kind IN ('m', 'p') OR c.kind IN ('m', 'p')) THEN
    answer := 'g mismatch ' || r.kind;
  ELSE
    SELECT coalesce(sum(permits), 0) AS used, min(capacity) AS capacity INTO held
    FROM (
      SELECT permits, capacity FROM holdfast.claim WHERE resource = r.name AND admitted
      UNION ALL SELECT r.permits, r.capacity WHERE r.id IS NOT NULL
    ) AS holders;
    c.admitted := (open OR c.trusts IS TRUE) AND r.waiters = 0
      AND held.used + c.permits <= least(held.capacity, c.capacity);
    IF NOT c.admitted AND NOT waits THEN
      answer := 'g refused ';
    ELSIF NOT c.admitted AND r.waiters >= (settings->>'maxWaiters')::integer THEN
      answer := 'g full maxWaiters is ' || (settings->>'maxWaiters');
    END IF;
  END IF;
  IF answer IS NULL THEN
    r := holdfast.spread(r);
    r.kind := c.kind;
    r.number := greatest(r.number + 1, now, s.highest + 1);
    c.number := r.number;
    c.expires := now + c.ttl * 1000::bigint;
    IF c.admitted THEN
      c.ended := r.ended;
      c.ended_by := r.ended_by;
    ELSE
      r.waiters := r.waiters + 1;
      IF r.waiters = 1 THEN
        r.told := c.number;
        r.concerns := r.concerns || ARRAY(
          SELECT id FROM holdfast.claim WHERE resource = r.name AND admitted
        );
      END IF;
    END IF;
    INSERT INTO holdfast.claim SELECT c.*;
    r := holdfast.close_ranks(r, c, now);
    answer := holdfast.status(c, r, now, s.open_at);
  END IF;
  PERFORM holdfast.save(r, was, c.id, now, s.open_at, settings->>'wake');
  RETURN answer;
END $$;

-- Enters the queues, or tells where ids already in them stand. Never extends a claim.
CREATE OR REPLACE FUNCTION holdfast.claim(settings json, claims json) RETURNS SETOF text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  s holdfast.store := holdfast.begin(settings);
  open boolean := holdfast.micros() >= s.open_at;
  trusts boolean := (settings->>'trust')::boolean;
  lines text[];
  taken record := holdfast.take(claims);
BEGIN
  IF taken.busy IS NOT NULL THEN
    RETURN QUERY SELECT unnest(taken.busy);
    IF taken.claims IS NULL THEN RETURN; END IF;
    claims := taken.claims;
  END IF;
  WITH asked AS MATERIALIZED (
    SELECT c.* FROM ROWS FROM (json_to_recordset(claims) AS (resource text, id uuid, kind text,
      permits integer, "limit" integer, ttl integer, address text, tag text, holder text))
      WITH ORDINALITY AS c
  ), taken AS (
    INSERT INTO holdfast.resource AS r (name, kind, number, id, expires, permits, capacity, ttl,
      address, tag, holder)
    SELECT DISTINCT ON (c.resource COLLATE "C") c.resource, c.kind,
      greatest(holdfast.micros(), s.highest + 1), CASE WHEN open THEN c.id END,
      holdfast.micros() + c.ttl * 1000::bigint, c.permits, c."limit", c.ttl, c.address, c.tag,
      c.holder
    FROM asked c ORDER BY c.resource COLLATE "C", c.ordinality
    ON CONFLICT (name) DO UPDATE SET kind = excluded.kind, id = excluded.id,
      number = greatest(r.number + 1, holdfast.micros(), s.highest + 1),
      expires = holdfast.micros() + excluded.ttl * 1000::bigint, permits = excluded.permits,
      capacity = excluded.capacity, ttl = excluded.ttl, address = excluded.address,
      tag = excluded.tag, holder = excluded.holder
    WHERE open AND r.id IS NULL AND NOT r.crowd AND r.ended IS NULL
      AND r.graves <= holdfast.micros()
    RETURNING r.id, r.number, r.ttl
  )
  SELECT array_agg(CASE WHEN t.id IS NOT NULL THEN format('h %s %s 0 - - 0', t.number, t.ttl) END
    ORDER BY c.ordinality)
  INTO lines FROM asked c LEFT JOIN taken t ON t.id = c.id;
  IF array_position(lines, NULL) IS NULL THEN
    RETURN QUERY SELECT unnest(lines);
    RETURN;
  END IF;
  RETURN QUERY
  SELECT coalesce(lines[c.ordinality], holdfast.enter(
    ROW(c.resource, 0, c.id, false, 0, c.kind, c.permits, c."limit", c.ttl, c.address, c.tag,
      c.holder, NULL, NULL, NULL, NULL, trusts)::holdfast.claim, c.queue, settings, s))
  FROM ROWS FROM (json_to_recordset(claims) AS (resource text, id uuid, kind text, permits integer,
    "limit" integer, ttl integer, queue boolean, address text, tag text, holder text))
    WITH ORDINALITY AS c;
END $$;

-- The common way into a queue: one holds all there is, and others wait already. Says what `enter`
-- would, and leaves the queue as it would, with less to read; whatever is not plain is left to it,
-- before anything is written.
CREATE OR REPLACE FUNCTION holdfast.join(
  r holdfast.resource, c holdfast.claim, settings text, s holdfast.store
) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
  now bigint := holdfast.micros();
  front holdfast.claim[];
  before holdfast.claim;
BEGIN
  IF r.waiters >= (settings::json->>'maxWaiters')::integer OR r.kind <> c.kind
    OR r.ended IS NOT NULL OR r.graves > now OR s.open_at > now THEN
    RETURN NULL;
  END IF;
  front := ARRAY(
    SELECT f FROM holdfast.claim f WHERE f.resource = c.resource ORDER BY f.number LIMIT 2
  );
  SELECT * INTO before FROM holdfast.claim b WHERE b.resource = c.resource
  ORDER BY b.number DESC LIMIT 1;
  IF (front[1].admitted AND front[1].expires > now AND front[1].permits = front[1].capacity
    AND front[1].capacity = c.capacity AND r.told = front[2].number AND front[2].expires > now
    AND before.expires > now) IS NOT TRUE THEN
    RETURN NULL;
  END IF;
  c.number := greatest(r.number + 1, now, s.highest + 1);
  INSERT INTO holdfast.claim (resource, number, id, admitted, expires, kind, permits, capacity,
    ttl, address, tag, holder, trusts)
  VALUES (c.resource, c.number, c.id, false, now + c.ttl * 1000::bigint, c.kind, c.permits,
    c.capacity, c.ttl, c.address, c.tag, c.holder, c.trusts)
  ON CONFLICT (id) DO NOTHING;
  IF NOT FOUND THEN RETURN NULL; END IF;
  UPDATE holdfast.resource SET number = c.number, waiters = r.waiters + 1 WHERE name = c.resource;
  RETURN format('w %s %s - queue %s', c.ttl, r.waiters + 1, ceil((before.expires - now) / 1000.0));
END $$;

-- The same for one, without JSON as long as it can do without.
CREATE OR REPLACE FUNCTION holdfast.claim_one(
  settings text, patience text, max_ttl bigint, fast boolean, resource text, id uuid, kind text,
  permits integer, capacity integer, ttl integer, queue boolean, address text, tag text, holder text
) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  ready boolean := holdfast.prepare(patience, fast);
  given bigint;
  s holdfast.store;
  locked holdfast.resource;
  c holdfast.claim;
BEGIN
  -- What `begin` asks and what `claim` does, in one statement.
  INSERT INTO holdfast.resource AS r (name, kind, number, id, expires, permits, capacity, ttl,
    address, tag, holder)
  SELECT claim_one.resource, kind, greatest(holdfast.micros(), known.highest + 1), id,
    holdfast.micros() + ttl * 1000::bigint, permits, capacity, ttl, address, tag, holder
  FROM holdfast.store AS known, holdfast.witness w
  WHERE w.written = w.xmin AND known.max_ttl >= claim_one.max_ttl * 1000
    AND known.fast >= claim_one.fast AND known.open_at <= holdfast.micros()
  ON CONFLICT (name) DO UPDATE SET kind = excluded.kind, id = excluded.id,
    number = greatest(r.number + 1, holdfast.micros(), excluded.number),
    expires = holdfast.micros() + excluded.ttl * 1000::bigint, permits = excluded.permits,
    capacity = excluded.capacity, ttl = excluded.ttl, address = excluded.address,
    tag = excluded.tag, holder = excluded.holder
  WHERE r.id IS NULL AND NOT r.crowd AND r.ended IS NULL AND r.graves <= holdfast.micros()
  RETURNING r.number INTO given;
  IF FOUND THEN RETURN format('h %s %s 0 - - 0', given, ttl); END IF;
  s := holdfast.begin(settings, patience, max_ttl, fast);
  locked := holdfast.lock(resource);
  c := ROW(resource, 0, id, false, 0, kind, permits, capacity, ttl, address, tag, holder,
    NULL, NULL, NULL, NULL, (settings::json->>'trust')::boolean);
  RETURN coalesce(
    CASE WHEN queue AND locked.waiters > 0 THEN holdfast.join(locked, c, settings, s) END,
    holdfast.enter(c, queue, settings::json, s));
END $$;

-- The long way of a heartbeat.
CREATE OR REPLACE FUNCTION holdfast.beat(
  resource text, asked uuid, ttl bigint, settings json, s holdfast.store
) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
  now bigint := holdfast.micros();
  open boolean := now >= s.open_at;
  r holdfast.resource := holdfast.load(resource);
  was holdfast.resource := r;
  own holdfast.claim;
  answer text;
BEGIN
  r := holdfast.settle(r, now, open);
  IF r.id = asked THEN
    UPDATE holdfast.resource SET expires = now + beat.ttl * 1000, ttl = beat.ttl WHERE name = r.name;
    RETURN format('h %s %s 0 - - 0', r.number, beat.ttl);
  END IF;
  UPDATE holdfast.claim c SET expires = now + beat.ttl * 1000
  WHERE c.id = asked AND c.expires > now AND c.sealed IS NULL;
  SELECT * INTO own FROM holdfast.claim c WHERE c.id = asked AND c.expires > now;
  IF FOUND THEN
    r := holdfast.close_ranks(r, own, now);
    answer := holdfast.status(own, r, now, s.open_at);
  ELSE
    answer := holdfast.missing(asked, now, open);
  END IF;
  PERFORM holdfast.save(r, was, asked, now, s.open_at, settings->>'wake');
  RETURN answer;
END $$;

-- Heartbeat and status in one. Never revives a claim.
CREATE OR REPLACE FUNCTION holdfast.renew(settings json, claims json) RETURNS SETOF text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  s holdfast.store := holdfast.begin(settings);
  renewed jsonb;
  taken record := holdfast.take(claims);
BEGIN
  IF taken.busy IS NOT NULL THEN
    RETURN QUERY SELECT unnest(taken.busy);
    IF taken.claims IS NULL THEN RETURN; END IF;
    claims := taken.claims;
  END IF;
  WITH renewed AS (
    INSERT INTO holdfast.resource AS r (name, kind, number, ttl, concerns)
    SELECT DISTINCT ON (c.resource COLLATE "C") c.resource, 'm', 0, c.ttl, ARRAY[c.id]
    FROM ROWS FROM (json_to_recordset(claims) AS (resource text, id uuid, ttl integer))
      WITH ORDINALITY AS c
    ORDER BY c.resource COLLATE "C", c.ordinality
    ON CONFLICT (name) DO UPDATE SET ttl = excluded.ttl,
      expires = holdfast.micros() + excluded.ttl * 1000::bigint
    WHERE r.id = excluded.concerns[1] AND r.expires > holdfast.micros()
    RETURNING r.number, r.ttl, r.id
  )
  SELECT jsonb_object_agg(n.id, format('h %s %s 0 - - 0', n.number, n.ttl)) INTO renewed
  FROM renewed n WHERE n.id IS NOT NULL;
  RETURN QUERY
  SELECT coalesce(renewed->>c.id::text, holdfast.beat(c.resource, c.id, c.ttl, settings, s))
  FROM json_to_recordset(claims) AS c (resource text, id uuid, ttl bigint);
END $$;

-- A claim that has left, or left out: its late copies are told why, for so long.
CREATE OR REPLACE FUNCTION holdfast.bury(
  INOUT r holdfast.resource, asked uuid, until bigint, why text, detail text DEFAULT NULL
)
LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO holdfast.grave AS g VALUES (asked, until, why, detail)
  ON CONFLICT (id) DO UPDATE SET until = excluded.until, why = excluded.why,
    detail = excluded.detail;
  r.graves := greatest(r.graves, until);
END $$;

-- Leaves the queue; what it held is free for the next ones.
CREATE OR REPLACE FUNCTION holdfast.depart(
  INOUT r holdfast.resource, own holdfast.claim, now bigint, open boolean
)
LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM holdfast.claim WHERE id = own.id;
  IF own.admitted THEN
    r := holdfast.settle(r, now, open,
      CASE own.sealed WHEN 'evicted' THEN 'evicted' ELSE 'released' END, own.number);
  ELSE
    r.waiters := r.waiters - 1;
    r := holdfast.settle(r, now, open);
  END IF;
END $$;

-- The long way of a release: with a tombstone where a copy of the claim may still come, or later.
CREATE OR REPLACE FUNCTION holdfast.leave(
  resource text, asked uuid, ttl bigint, unanswered boolean, after bigint, settings json,
  s holdfast.store
) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
  now bigint := holdfast.micros();
  open boolean := now >= s.open_at;
  r holdfast.resource := holdfast.load(resource);
  was holdfast.resource := r;
  own holdfast.claim;
  present boolean;
BEGIN
  r := holdfast.settle(r, now, open);
  IF r.id = asked THEN r := holdfast.spread(r); END IF;
  SELECT * INTO own FROM holdfast.claim c WHERE c.id = asked AND c.expires > now;
  present := FOUND;
  IF NOT present OR unanswered THEN
    r := holdfast.bury(r, asked, now + ttl * 1000, 'unknown');
  END IF;
  IF present AND (after <= 0 OR NOT own.admitted) THEN
    r := holdfast.depart(r, own, now, open);
  ELSIF present AND own.sealed IS NULL THEN
    UPDATE holdfast.claim c SET sealed = 'unknown', expires = now + after * 1000 WHERE c.id = asked;
  END IF;
  PERFORM holdfast.save(r, was, asked, now, s.open_at, settings->>'wake');
  RETURN present::integer;
END $$;

-- Leaves the queues, at once or `after` ms from now.
CREATE OR REPLACE FUNCTION holdfast.release(settings json, claims json) RETURNS SETOF text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  s holdfast.store := holdfast.begin(settings);
  released uuid[];
  taken record := holdfast.take(claims);
BEGIN
  IF taken.busy IS NOT NULL THEN
    RETURN QUERY SELECT unnest(taken.busy);
    IF taken.claims IS NULL THEN RETURN; END IF;
    claims := taken.claims;
  END IF;
  WITH asked AS (
    SELECT DISTINCT ON (c.resource COLLATE "C") c.resource, c.id,
      NOT c.unanswered AND c.after <= 0 AS simply
    FROM ROWS FROM (json_to_recordset(claims) AS (resource text, id uuid, unanswered boolean,
      after bigint)) WITH ORDINALITY AS c
    ORDER BY c.resource COLLATE "C", c.ordinality
  ), released AS (
    INSERT INTO holdfast.resource AS r (name, kind, number, concerns)
    SELECT a.resource, 'm', 0, CASE WHEN a.simply THEN ARRAY[a.id] END FROM asked a
    ON CONFLICT (name) DO UPDATE SET id = NULL
    WHERE r.id = excluded.concerns[1] AND r.expires > holdfast.micros()
    RETURNING r.name, r.number
  )
  SELECT array_agg(a.id) INTO released
  FROM released d JOIN asked a ON a.resource = d.name WHERE d.number > 0;
  RETURN QUERY
  SELECT CASE WHEN c.id = ANY (released) THEN '1'
    ELSE holdfast.leave(c.resource, c.id, c.ttl, c.unanswered, c.after, settings, s) END
  FROM json_to_recordset(claims)
    AS c (resource text, id uuid, ttl bigint, unanswered boolean, after bigint);
END $$;

-- The common way out of a queue: who holds all there is leaves, and the first waiter comes in, who
-- wants as much. Says what `leave` would, to whom it would, and leaves the queue as it would, with
-- less to read; whatever is not plain is left to it, before anything is written.
CREATE OR REPLACE FUNCTION holdfast.hand_off(
  r holdfast.resource, asked uuid, settings text, s holdfast.store
) RETURNS text
LANGUAGE plpgsql AS $$
DECLARE
  now bigint := holdfast.micros();
  wake text := settings::json->>'wake';
  own holdfast.claim;
  front holdfast.claim[];
  next holdfast.claim;
  follower holdfast.claim;
  news text;
  done text;
BEGIN
  front := ARRAY(SELECT f FROM holdfast.claim f WHERE f.resource = r.name ORDER BY f.number LIMIT 3);
  own := front[1];
  next := front[2];
  follower := front[3];
  IF (own.id = asked AND own.admitted AND own.expires > now AND own.sealed IS NULL
    AND own.permits = own.capacity AND now >= s.open_at AND r.ended IS NULL AND r.told = next.number
    AND next.expires > now AND next.permits = own.permits AND next.capacity = own.capacity
    AND (r.waiters = 1 OR follower.expires > now AND follower.capacity = own.capacity)
  ) IS NOT TRUE THEN
    RETURN NULL;
  END IF;
  DELETE FROM holdfast.claim WHERE id = asked;
  UPDATE holdfast.claim SET admitted = true, ended = 'released', ended_by = own.number
  WHERE id = next.id;
  UPDATE holdfast.resource SET waiters = r.waiters - 1, told = coalesce(follower.number, r.told)
  WHERE name = r.name;
  IF follower.address <> '-' THEN
    news := format('%s w %s 1 - queue %s', follower.tag, ceil((follower.expires - now) / 1000.0),
      ceil((next.expires - now) / 1000.0));
  END IF;
  IF next.address <> '-' THEN
    IF news IS NOT NULL AND follower.address <> next.address THEN
      done := pg_notify(wake || follower.address, news);
      news := NULL;
    END IF;
    news := concat_ws(E'\n', format('%s h %s %s %s - released %s', next.tag, next.number,
      ceil((next.expires - now) / 1000.0), r.waiters - 1, own.number), news);
    done := pg_notify(wake || next.address, news);
  ELSIF news IS NOT NULL THEN
    done := pg_notify(wake || follower.address, news);
  END IF;
  RETURN 1;
END $$;

-- The same for one that is to leave at once, without JSON as long as it can do without.
CREATE OR REPLACE FUNCTION holdfast.release_one(
  settings text, patience text, max_ttl bigint, fast boolean, resource text, asked uuid, ttl bigint
) RETURNS text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  ready boolean := holdfast.prepare(patience, fast);
  locked holdfast.resource;
  s holdfast.store;
BEGIN
  -- It is right to free what is there even if other data was lost, so nothing else is looked at.
  UPDATE holdfast.resource r SET id = NULL
  WHERE r.name = resource AND r.id = asked AND r.expires > holdfast.micros();
  IF FOUND THEN RETURN '1'; END IF;
  -- Before the row is locked, as everywhere: it may lock that of the store.
  s := holdfast.begin(settings, patience, max_ttl, fast);
  locked := holdfast.lock(resource);
  RETURN coalesce(
    CASE WHEN locked.waiters > 0 THEN holdfast.hand_off(locked, asked, settings, s) END,
    holdfast.leave(resource, asked, ttl, false, 0, settings::json, s));
END $$;

-- The rarer verbs, on one claim.
CREATE OR REPLACE FUNCTION holdfast.change(settings json, change json) RETURNS SETOF text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  s holdfast.store := holdfast.begin(settings);
  now bigint;
  open boolean;
  r holdfast.resource;
  was holdfast.resource;
  own holdfast.claim;
  verb text := change->>'verb';
  asking uuid := (change->>'id')::uuid;
  answer text := 0;
BEGIN
  PERFORM FROM holdfast.resource WHERE name = change->>'resource' FOR UPDATE;
  now := holdfast.micros();
  open := now >= s.open_at;
  r := holdfast.load(change->>'resource');
  was := r;
  IF r.name IS NULL THEN
    RETURN QUERY SELECT CASE verb WHEN 'evict' THEN '0'
      ELSE holdfast.missing(asking, now, open) END;
    RETURN;
  END IF;
  r := holdfast.settle(r, now, open);
  IF r.id = asking OR r.id IS NOT NULL AND r.number = (change->>'number')::bigint THEN
    r := holdfast.spread(r);
  END IF;
  SELECT * INTO own FROM holdfast.claim c
  WHERE c.resource = r.name AND c.expires > now
    AND CASE verb WHEN 'evict' THEN c.number = (change->>'number')::bigint ELSE c.id = asking END;
  IF verb = 'evict' AND FOUND THEN
    answer := 1;
    own.sealed := 'evicted';
    own.detail := change->>'reason';
    UPDATE holdfast.claim c SET sealed = own.sealed, detail = own.detail WHERE c.id = own.id;
    IF own.address <> '-' THEN
      PERFORM pg_notify((settings->>'wake') || own.address, own.tag || ' ?');
    END IF;
    IF (change->>'now')::boolean OR NOT own.admitted THEN
      r := holdfast.bury(r, own.id, now + own.ttl * 1000::bigint, 'evicted', own.detail);
      r := holdfast.depart(r, own, now, open);
    END IF;
  ELSIF verb = 'downgrade' AND FOUND THEN
    IF own.admitted AND own.kind = 'w' THEN
      UPDATE holdfast.claim c SET kind = 'r', permits = 1 WHERE c.id = own.id RETURNING * INTO own;
      r := holdfast.settle(r, now, open);
    END IF;
    r := holdfast.close_ranks(r, own, now);
    answer := holdfast.status(own, r, now, s.open_at);
  ELSIF verb = 'downgrade' THEN
    answer := holdfast.missing(asking, now, open);
  END IF;
  PERFORM holdfast.save(r, was, asking, now, s.open_at, settings->>'wake');
  RETURN NEXT answer;
END $$;

-- What is over goes, so many at a time, and nobody is waited for.
CREATE OR REPLACE FUNCTION holdfast.forget(now bigint, most integer) RETURNS void
LANGUAGE sql VOLATILE AS $$
  DELETE FROM holdfast.kept WHERE name IN (
    SELECT name FROM holdfast.kept WHERE until <= now ORDER BY until LIMIT most
    FOR UPDATE SKIP LOCKED
  )
$$;

-- Keeps a text about the resource, or forgets it, if the claim is held: under the lock of the
-- resource, so nobody else can hold it before this is committed. It is on disk then, however other
-- commits are: what is known to be done must not be done again. Two that are over go with each one
-- that comes, so that there are never many more than are alive.
CREATE OR REPLACE FUNCTION holdfast.keep(
  settings json, resource text, asked uuid, said text, ms bigint
) RETURNS SETOF text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  s holdfast.store := holdfast.begin(settings::text, settings->>'patience',
    (settings->>'maxTtl')::bigint, false);
  now bigint;
BEGIN
  PERFORM FROM holdfast.resource r WHERE r.name = keep.resource FOR UPDATE;
  now := holdfast.micros();
  PERFORM FROM holdfast.resource r
  WHERE r.name = keep.resource AND r.id = asked AND r.expires > now
  UNION ALL
  SELECT FROM holdfast.claim c
  WHERE c.id = asked AND c.resource = keep.resource AND c.admitted AND c.expires > now
    AND c.sealed IS NULL;
  IF NOT FOUND THEN
    RETURN NEXT '0';
    RETURN;
  END IF;
  IF ms > 0 THEN
    INSERT INTO holdfast.kept AS k VALUES (keep.resource, said, now + ms * 1000)
    ON CONFLICT (name) DO UPDATE SET content = excluded.content, until = excluded.until;
  ELSE
    DELETE FROM holdfast.kept k WHERE k.name = keep.resource;
  END IF;
  PERFORM holdfast.forget(now, 2);
  RETURN NEXT '1';
END $$;

-- What is kept, behind the ms for which it still is.
CREATE OR REPLACE FUNCTION holdfast.recall(asked text) RETURNS SETOF text
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT ceil((k.until - t.now) / 1000.0) || ' ' || k.content
  FROM holdfast.kept k, (SELECT holdfast.micros() AS now) AS t
  WHERE k.name = asked AND k.until > t.now
$$;

-- The living claims of a resource, in order: for people.
CREATE OR REPLACE FUNCTION holdfast.inspect(settings json, asked text) RETURNS SETOF text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  s holdfast.store := holdfast.begin(settings);
  now bigint;
  r holdfast.resource;
  was holdfast.resource;
BEGIN
  PERFORM FROM holdfast.resource WHERE name = asked FOR UPDATE;
  IF NOT FOUND THEN RETURN; END IF;
  now := holdfast.micros();
  r := holdfast.load(asked);
  was := r;
  r := holdfast.settle(r, now, now >= s.open_at);
  PERFORM holdfast.save(r, was, NULL, now, s.open_at, settings->>'wake');
  RETURN QUERY
  SELECT format('%s %s %s %s %s %s %s %s', CASE WHEN c.admitted THEN 'h' ELSE 'w' END, c.number,
    c.kind, c.permits, c.capacity, c.ttl, ceil((c.expires - now) / 1000.0), c.holder)
  FROM (
    SELECT number, true AS admitted, kind, permits, capacity, ttl, expires, holder
    FROM holdfast.resource WHERE name = asked AND id IS NOT NULL
    UNION ALL
    SELECT number, admitted, kind, permits, capacity, ttl, expires, holder
    FROM holdfast.claim WHERE resource = asked
  ) AS c
  WHERE c.expires > now ORDER BY c.number;
END $$;

-- Resources that somebody holds or waits for, in the order of bytes.
CREATE OR REPLACE FUNCTION holdfast.names(after text, most integer) RETURNS SETOF text
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT name FROM holdfast.resource r
  WHERE name > after AND (r.id IS NOT NULL AND r.expires > holdfast.micros() OR r.crowd AND EXISTS (
    SELECT FROM holdfast.claim c WHERE c.resource = r.name AND c.expires > holdfast.micros()
  ))
  ORDER BY name LIMIT most
$$;

-- Where these claims stand, as far as they live. It locks nothing and so may be behind the times.
CREATE OR REPLACE FUNCTION holdfast.look(ids json) RETURNS SETOF text
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
  SELECT asked.id || ' ' || holdfast.status(c, r, holdfast.micros(), s.open_at)
  FROM json_array_elements_text(ids) AS asked (id)
  JOIN holdfast.claim c ON c.id = asked.id::uuid AND c.expires > holdfast.micros()
  JOIN holdfast.resource r ON r.name = c.resource, holdfast.store s
$$;

-- Forgets what nobody has needed for ten minutes, a portion of all names at a time, in their order:
-- returns `on` if there is more. One process sweeps at a time, takes only rows that are not locked,
-- and has them for a moment. After a round comes a pause of a minute or, where it found next to
-- nothing, of ten times its length up to ten minutes. Before a resource goes, the numbers that it
-- may have given are remembered, so that they are not given again if the clock goes back.
CREATE OR REPLACE FUNCTION holdfast.sweep() RETURNS SETOF text
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp
SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  most CONSTANT integer := 500;
  minute CONSTANT bigint := 60000000;
  now bigint := holdfast.micros();
  -- Rows are not waited for at all; a table may be locked.
  done text := set_config('lock_timeout', '50', true);
  w holdfast.sweeping;
  portion record;
  graves integer;
BEGIN
  SELECT * INTO w FROM holdfast.sweeping FOR UPDATE SKIP LOCKED;
  IF NOT FOUND THEN RETURN; END IF;
  -- A pause is no longer than that, unless the clock has gone back.
  IF w.name IS NOT NULL OR now NOT BETWEEN w.due - 10 * minute AND w.due THEN
    IF w.name IS NULL THEN
      PERFORM FROM holdfast.store FOR UPDATE SKIP LOCKED;
      IF NOT FOUND THEN RETURN; END IF;
      w := ROW(true, '', 0, now, now - 10 * minute, 0, 0);
      UPDATE holdfast.store SET highest = greatest(highest, w.long_ago);
    END IF;
    WITH seen AS MATERIALIZED (
      SELECT r.name, r.number < w.long_ago AND r.graves < w.long_ago
        AND (r.id IS NULL OR r.expires < w.long_ago) AS idle
      FROM holdfast.resource r WHERE r.name > w.name ORDER BY r.name LIMIT most
    ), idle AS MATERIALIZED (
      SELECT r.name FROM holdfast.resource r
      WHERE r.name = ANY (ARRAY(SELECT s.name FROM seen s WHERE s.idle))
        AND r.number < w.long_ago AND r.graves < w.long_ago
        AND (r.id IS NULL OR r.expires < w.long_ago)
        AND NOT EXISTS (
          SELECT FROM holdfast.claim c WHERE c.resource = r.name AND c.expires >= w.long_ago
        )
      FOR UPDATE SKIP LOCKED
    ), dead AS (
      DELETE FROM holdfast.claim c USING idle WHERE c.resource = idle.name
    ), swept AS (
      DELETE FROM holdfast.resource r USING idle WHERE r.name = idle.name RETURNING 1
    )
    SELECT (SELECT max(s.name) FROM seen s) AS name, (SELECT count(*) FROM seen) AS seen,
      (SELECT count(*) FROM swept) AS gone INTO portion;
    w.name := portion.name;
    w.seen := w.seen + portion.seen;
    w.gone := w.gone + portion.gone;
    IF portion.seen < most THEN
      w.name := NULL;
      w.due := now + CASE WHEN w.gone * 20 > w.seen THEN minute
        ELSE greatest(minute, least(10 * minute, 10 * (now - w.began))) END;
    END IF;
    UPDATE holdfast.sweeping SET name = w.name, due = w.due, began = w.began,
      long_ago = w.long_ago, seen = w.seen, gone = w.gone;
  END IF;
  DELETE FROM holdfast.grave WHERE id IN (
    SELECT id FROM holdfast.grave WHERE until < now - 10 * minute ORDER BY until LIMIT most
    FOR UPDATE SKIP LOCKED
  );
  GET DIAGNOSTICS graves = ROW_COUNT;
  -- Last, for whoever keeps something may wait for these, and so must wait for nothing else.
  PERFORM holdfast.forget(now, most);
  IF w.name IS NOT NULL OR graves = most THEN RETURN NEXT 'on'; END IF;
END $$;
