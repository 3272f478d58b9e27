/**
 * The layouts of the file. All tables begin with `holdfast_`, so that they can live in a database
 * that belongs to the program. Times are µs of the machine's monotonic clock.
 *
 * A claim's `seq` is its place in the queue and its fencing token. The primary key keeps a queue
 * together and in order, and leaves a lone claim one row in one tree to write: it is at place 0,
 * where the row of a mutex may stay when the claim leaves.
 *
 * While a new version is rolled out, programs of both share the file. A layout is additive if
 * programs that know the one before can go on: new tables, new indexes that are not unique, new
 * columns with a default that is right for what they write. Statements therefore name all their
 * columns, and a program that knows more columns resets those of a row that stays. Any other change
 * must rename `holdfast_claim`: then older programs' statements fail.
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
  highest INTEGER NOT NULL,         -- No seq was above this when both clocks were last noted,
  wall INTEGER NOT NULL             -- and the wall clock said this.
);
CREATE TABLE holdfast_claim (
  resource TEXT NOT NULL,
  place INTEGER NOT NULL,           -- 0 for a claim that found no other; else its seq.
  seq INTEGER NOT NULL,
  id TEXT NOT NULL,
  kind TEXT NOT NULL,
  permits INTEGER NOT NULL,
  lim INTEGER NOT NULL,
  ttl INTEGER NOT NULL,
  expires INTEGER NOT NULL,         -- Dead from then on.
  admitted INTEGER NOT NULL,        -- 0 at place 0: the claim has left, and the lock is free.
  told INTEGER NOT NULL,            -- It knows that it is the first waiter.
  sealed TEXT,                      -- Takes no more heartbeats: why.
  took TEXT,                        -- How the hold before it ended, and
  took_seq INTEGER,                 -- with which token.
  origin TEXT NOT NULL,             -- Where its process listens, a space, and the holder's JSON.
  PRIMARY KEY (resource, place)
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
`;

/** Layout n is the nth; published ones never change. */
export const LAYOUTS: readonly Layout[] = [{ oldest: 1, sql: FIRST }];
