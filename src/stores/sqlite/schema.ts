/**
 * The layouts of the file. All tables begin with `holdfast_`, so that they can live in a database
 * that belongs to the program. Times are µs of the machine's monotonic clock.
 *
 * A claim's `seq` is its place in the queue and its fencing token. The primary key keeps a queue
 * together and in order, and leaves a lone claim one row in one tree to write.
 *
 * While a new version is rolled out, programs of both share the file. A layout is additive if
 * programs that know the one before can go on: new tables, new indexes that are not unique, new
 * columns with a default that is right for what they write. Statements therefore name all their
 * columns. Any other change must rename `holdfast_claim`: then older programs' statements fail.
 */

/** How a file moves to a layout from the one before. */
export interface Layout {
  /** The oldest layout whose programs can use a file with this one. */
  readonly oldest: number;
  readonly sql: string;
}

const FIRST = `
CREATE TABLE holdfast_meta (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  layout INTEGER NOT NULL,          -- This and
  oldest INTEGER NOT NULL,          -- this stay as they are in every layout.
  lineage TEXT NOT NULL,
  boot TEXT NOT NULL,               -- The kernel's name of this boot, or '' where it has none.
  time_space TEXT NOT NULL,         -- The Linux time namespace that the clock belongs to.
  booted_us INTEGER NOT NULL,       -- Wall clock of the boot, as estimated.
  base INTEGER NOT NULL,            -- seq = base + monotonic µs; fixed from boot to boot.
  highest INTEGER NOT NULL          -- No seq was above this when it was last looked at.
);
CREATE TABLE holdfast_claim (
  resource TEXT NOT NULL,
  seq INTEGER NOT NULL,
  id TEXT NOT NULL,
  kind TEXT NOT NULL,
  permits INTEGER NOT NULL,
  lim INTEGER NOT NULL,
  ttl INTEGER NOT NULL,
  expires INTEGER NOT NULL,         -- Dead from then on.
  admitted INTEGER NOT NULL,
  told INTEGER NOT NULL,            -- It knows that it is the first waiter.
  sealed TEXT,                      -- Takes no more heartbeats: why.
  took TEXT,                        -- How the hold before it ended, and
  took_seq INTEGER,                 -- with which token.
  address TEXT NOT NULL,            -- Where its process listens.
  holder TEXT NOT NULL,             -- JSON, for people.
  PRIMARY KEY (resource, seq)
) WITHOUT ROWID;
CREATE TABLE holdfast_tombstone (
  id TEXT PRIMARY KEY,
  why TEXT NOT NULL,
  until INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE holdfast_record (
  resource TEXT PRIMARY KEY,
  until INTEGER NOT NULL,
  text TEXT NOT NULL
);
CREATE INDEX holdfast_record_by_until ON holdfast_record (until);
CREATE TABLE holdfast_clocks (      -- What they said when they were last looked at.
  one INTEGER PRIMARY KEY CHECK (one = 1),
  boot TEXT NOT NULL,
  monotonic INTEGER NOT NULL,
  wall INTEGER NOT NULL
);
`;

/** Layout n is the nth; published ones never change. */
export const LAYOUTS: readonly Layout[] = [{ oldest: 1, sql: FIRST }];
