/**
 * Finds out whether data may have been lost, and records the answer.
 *
 * The row of `store` names the history of its tables: the second in which the server started, and
 * the identity of the data: its schema, its birth, its server. The first differs after a restart;
 * the rest on a replica, and in tables that were made anew from a copy, there or elsewhere. None of
 * it is kept in memory, so it can neither be replicated nor be missing. No session outlives its
 * server, so each asks once when that started, and every statement that grants compares what the
 * session knows with the row. Tables may be made anew under an open session, so its statements look
 * at the birth of the table once a second. The start is not trusted before its second is over: a
 * server that started again within it would look the same. Nor is it trusted where two seconds
 * meet: the server counts its own time by a clock that is some milliseconds late.
 * Data may be lost if the server does not wait for commits, or if this is other data than before.
 * The record that it did not wait is itself such a commit, and may be lost: so its current settings
 * count as well.
 * What would break it: writing the history without having compared it.
 */
import { literal, type MysqlSession } from '../../clients/mysql/connection.ts';
import { MYSQL } from '../../clients/mysql/errors.ts';
import { anotherLayout, impossible } from '../../clients/sql/judge.ts';
import { temporaryFailure } from '../../contract/errors.ts';
import { type MysqlTables, NOW } from './fragments.ts';

export const LAYOUT = 1;

const UPTIME = `(SELECT CAST(g.variable_value AS SIGNED)
  FROM /*!80000 performance_schema.global_status */ /*M!100600 information_schema.global_status */
    AS g WHERE g.variable_name = 'Uptime')`;

function bornOf(store: string): string {
  return `(SELECT UNIX_TIMESTAMP(t.create_time) FROM information_schema.tables AS t
  WHERE t.table_schema = DATABASE() AND t.table_name = '${store}')`;
}

/** The words, as SQL. */
export function historyOf(store: string): string {
  return `CONCAT_WS(' ', UNIX_TIMESTAMP(SYSDATE()) - ${UPTIME}, DATABASE(), ${bornOf(store)},
  /*!80000 @@server_uuid */ /*M!100600 @@hostname, @@port, @@server_id, @@datadir */)`;
}

/** Whether all of a statement, and the server's late clock, are in one second. */
export const STEADY = `MICROSECOND(NOW(6)) >= 20000
  AND UNIX_TIMESTAMP(NOW()) = UNIX_TIMESTAMP(SYSDATE())`;

/** How long it takes to get away from where two seconds meet, in ms. */
const STEP_MS = 20;

/** Whether a crash may lose commits. If there is a binary log, a restart commits by that. */
const FAST = `(@@global.innodb_flush_log_at_trx_commit NOT IN (1, 3)
  OR @@global.log_bin AND @@global.sync_binlog <> 1)`;

/** Also for users who may write where others may not. */
export const WRITABLE = `CAST(@@global.read_only AS CHAR) IN ('0', 'OFF')`;

/** How long the birth of the table needs not be looked at again, in ms. */
const LOOK_MS = 1000;

export interface KnownHistory {
  readonly store: string;
  readonly maxTtlMs: number;
  readonly history: string;
  readonly born: string;
  /** When the table was last seen to be that one. */
  seenAt: number;
}

export function isDue({ seenAt }: KnownHistory): boolean {
  return performance.now() >= seenAt + LOOK_MS;
}

/** Nothing was lost, and what this program has to say is recorded. `s` is the store. */
export function intact(known: KnownHistory): string {
  const look = isDue(known) ? ` AND ${bornOf(known.store)} = ${literal(known.born)}` : '';
  return `s.history = ${literal(known.history)} AND s.max_ttl >= ${known.maxTtlMs * 1000}
  AND s.fast >= ${FAST} AND ${WRITABLE}${look}`;
}

/** How often others may be quicker. */
const TRIES = 10;

/** Records what this program has to say, and a loss of data. Refuses another layout. */
export async function settle(
  connection: MysqlSession,
  { store }: MysqlTables,
  maxTtlMs: number,
): Promise<KnownHistory> {
  for (let tries = 0; tries < TRIES; tries++) {
    const seenAt = performance.now();
    const [row = []] = await connection.query(`SELECT s.layout, s.max_ttl, s.fast, s.history,
  ${historyOf(store)}, ${bornOf(store)}, ${FAST}, ${UPTIME}, ${WRITABLE},
  1000 - MICROSECOND(SYSDATE(6)) DIV 1000, ${STEADY}
  FROM ${store} s WHERE s.only_row = TRUE`);
    const [layout, maxTtl, wasFast, before = '', history, born, fast, ...rest] = row;
    const [uptime, writable, secondMs, steady] = rest;
    if (layout !== String(LAYOUT)) throw anotherLayout(MYSQL, String(layout), LAYOUT);
    if (writable === '0') {
      // As the server says it.
      const refusal = { errno: 1836, sqlState: '25006' };
      throw Object.assign(new Error('The server is read-only'), refusal);
    }
    if (uptime === null) throw impossible(MYSQL, 'it does not tell when it started');
    if (uptime === '0' || steady !== '1') {
      const pauseMs = uptime === '0' ? Number(secondMs) : STEP_MS;
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
      continue;
    }
    const known = { store, maxTtlMs, history: String(history), born: String(born), seenAt };
    const same = before === history;
    const isEnough = Number(maxTtl) >= maxTtlMs * 1000 && Number(wasFast) >= Number(fast);
    if (same && isEnough) return known;
    const lost = !same && (wasFast === '1' || fast === '1' || dataOf(before) !== dataOf(history));
    const longest = `GREATEST(max_ttl, ${maxTtlMs * 1000})`;
    const [[, written] = []] = await connection.query(`UPDATE ${store}
  SET max_ttl = ${longest}, ${lost ? `open_at = ${NOW} + max_ttl,` : ''}
    fast = ${same ? 'fast OR ' : ''}${fast}, history = ${literal(known.history)}
  WHERE only_row = TRUE AND history = ${literal(String(before))} AND fast = ${wasFast}
    AND max_ttl = ${maxTtl}`);
    if (written === '1') return known;
  }
  throw temporaryFailure('What is recorded of the server does not stay.');
}

/** Without the start of the server. */
function dataOf(history: string | null | undefined): string {
  return String(history).slice(String(history).indexOf(' '));
}
