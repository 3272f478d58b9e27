/**
 * Joining a file: its layout, its lineage, and a reboot since its last use.
 *
 * The file records its layout and the oldest one whose programs can still use it. A program that is
 * not too old for a newer file goes on with it, and brings an older file up to its own layout in
 * one transaction, while older programs use it.
 *
 * Invariant: seq = base + monotonic µs exceeds every seq granted before. `base` is fixed for one
 * boot, during which the clock only grows. The first program to open the file after a boot chooses
 * it so that seq starts above the wall clock, and an hour above the highest seq on record, which is
 * refreshed every minute: more than a power cut can have taken back.
 * A reboot has ended all holders, so it voids all claims; the admitted ones stay as dead rows, so
 * that their successors learn of it. Without a boot id, a clock below its last reading proves the
 * reboot. A jump of the estimated boot time may as well be a step of the wall clock: then no claim
 * is voided, but none keeps more life than its TTL, which changes nothing for a live one.
 * What would break it: a base kept in memory, so every step reads or compares it in the file.
 */
import { randomId } from '../../base/random-id.ts';
import type { FileConnection } from '../../clients/sqlite/connection.ts';
import type { Machine } from '../../clients/sqlite/machine.ts';
import { permanentFailure } from '../../contract/errors.ts';
import type { Layout } from './schema.ts';

interface Meta {
  readonly lineage: string;
  readonly boot: string;
  readonly time_space: string;
  readonly booted_us: number;
  readonly base: number;
  readonly highest: number;
  readonly wall: number;
}

export interface Newcomer {
  readonly machine: Machine;
  readonly layouts: readonly Layout[];
}

const HOUR_US = 3_600_000_000;

/** Wall clocks beyond this (the year 2112) are wrong, and would use up the numbers below 2^53. */
const MAX_WALL_US = 2 ** 52;

/** The estimated boot time may wander this much without being another boot. */
const BOOT_TOLERANCE_US = 10_000_000;

/** Creates, checks or upgrades the tables, in a transaction of the caller; returns the lineage. */
export function joinFile(connection: FileConnection, { machine, layouts }: Newcomer): string {
  const found = connection.all("SELECT 1 FROM sqlite_master WHERE name = 'holdfast_meta'");
  if (found.length === 0) return create(connection, { machine, layouts });
  const layout = checkLayout(connection, layouts);
  if (layout < layouts.length) {
    // Programs that know only the layout before may be using the file.
    for (const { sql } of layouts.slice(layout)) connection.exec(sql);
    const known = [layouts.length, oldestOf(layouts)] as const;
    connection.run('UPDATE holdfast_meta SET layout = ?, oldest = ?', ...known);
  }
  const [meta] = connection.all(
    'SELECT lineage, boot, time_space, booted_us, base, highest, wall FROM holdfast_meta',
  ) as [Meta];
  const { boot, timeSpace } = machine.identity();
  if (meta.boot === boot && meta.time_space !== timeSpace) {
    throw permanentFailure(
      `The lock database ${connection.file} is used by processes with another clock (time` +
        ` namespace ${meta.time_space}, here ${timeSpace}). Locks need one clock: run all of them` +
        ' in the same time namespace.',
    );
  }
  const now = machine.nowUs();
  if (boot ? meta.boot !== boot : meta.boot !== '' || meta.base + now < meta.highest) {
    connection.exec('DELETE FROM holdfast_claim WHERE admitted = 0');
    // Dead from now on, so that they are kept for as long as those that die later.
    connection.run('UPDATE holdfast_claim SET expires = ?', now);
    connection.exec('DELETE FROM holdfast_tombstone');
    // The ends of records (records.ts), from the life that was left at the note.
    const rested = Math.max(0, machine.wallUs() - meta.wall);
    const moved = now - (meta.highest - meta.base) - rested;
    connection.run('UPDATE holdfast_record SET until = until + ?', moved);
    save(connection, machine, meta.highest);
  } else if (!boot && Math.abs(machine.bootedUs() - meta.booted_us) > BOOT_TOLERANCE_US) {
    connection.run('UPDATE holdfast_claim SET expires = min(expires, ttl + ?)', now);
    save(connection, machine, Math.max(meta.highest, meta.base + now));
  }
  return meta.lineage;
}

/** @throws StoreError if the file takes a newer program. */
export function checkLayout(connection: FileConnection, layouts: readonly Layout[]): number {
  const found = connection.all('SELECT layout, oldest FROM holdfast_meta');
  const [{ layout, oldest }] = found as [{ layout: number; oldest: number }];
  if (oldest <= layouts.length) return layout;
  throw permanentFailure(
    `The lock database ${connection.file} has layout ${layout}, which needs a program that knows` +
      ` layout ${oldest}; this version of holdfast knows ${layouts.length}. Update holdfast here,` +
      ' or use another file.',
  );
}

function create(connection: FileConnection, { machine, layouts }: Newcomer): string {
  for (const { sql } of layouts) connection.exec(sql);
  const lineage = `sqlite:${randomId().slice(0, 16)}`;
  const insert = `INSERT INTO holdfast_meta (one, layout, oldest, lineage, boot, time_space,
    booted_us, base, highest, wall) VALUES (1, ?, ?, ?, '', '', 0, 0, 0, 0)`;
  connection.run(insert, layouts.length, oldestOf(layouts), lineage);
  save(connection, machine, 0);
  return lineage;
}

function oldestOf(layouts: readonly Layout[]): number {
  return Math.max(...layouts.map(({ oldest }) => oldest));
}

/** Begins a new series of seq above everything that may have been granted. */
function save(connection: FileConnection, machine: Machine, highest: number): void {
  const { boot, timeSpace } = machine.identity();
  const [now, wall] = [machine.nowUs(), machine.wallUs()];
  const start = Math.max(Math.min(wall, MAX_WALL_US), highest + HOUR_US);
  const begin = `UPDATE holdfast_meta SET boot = ?, time_space = ?, booted_us = ?, base = ?,
    highest = ?, wall = ?`;
  connection.run(begin, boot, timeSpace, machine.bootedUs(), start - now, start, wall);
}
