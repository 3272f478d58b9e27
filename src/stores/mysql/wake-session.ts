/**
 * Wakes, although MySQL sends none. A session of the process waits for a named lock, the gate, that
 * its other session holds. A process that has a wake for it commits the wake, then interrupts that
 * wait (`kill`), and the other session looks for the wake. Every user may interrupt sessions of the
 * same user; a process of another user finds the wake when it looks by itself, within a second.
 *
 * Invariant: no wake is missed. Whenever the wait has ended, it begins anew, and a look that finds
 * it begun (by a named lock that it takes with it) comes after that. The look finds all that was
 * committed before; a process that commits later interrupts while this session waits. The wait is
 * one statement: of several sent together, an interrupt between two would end all without an
 * answer. The other process finds this session by the named lock of its channel, so it never
 * mistakes another connection for one that has ended. When the other session ends, the gate opens,
 * and this one ends as well. A look goes back a while before the last one, since a commit may come
 * later than its time says; so what has been seen is remembered for as long.
 * What would break it: a proxy that gives the session to others while it holds a named lock; known
 * proxies do not.
 */
import { abortable, first, limited } from '../../clients/abortable.ts';
import { type ConnectMysql, literal, type MysqlSession } from '../../clients/mysql/connection.ts';
import { numberOf } from '../../clients/mysql/errors.ts';
import type { WireTerms } from '../../clients/wire.ts';
import { CHANNEL, LOOK } from '../sql/link.ts';
import { HELD_LINE, type MysqlTables, NEXT_LINE, NOW, wordOf } from './fragments.ts';

/** Proxies send other SELECTs to replicas, where a named lock excludes no other session. */
export const ON_PRIMARY = 'FOR UPDATE';
/** How long the session waits for the gate before it looks by itself, in s. */
const WAIT_S = 1;
/** How long the session may wait for its channel, in s. */
const CHANNEL_S = 2;
/** How late a wait may be, in ms: beyond it the connection is half-open, or the server stands. */
const LATE_MS = 3000;
const CONNECT_MS = 5000;
/** When to look again, where the wait had not begun, in ms. */
const AGAIN_MS = 2;
/** How far a look goes back, in µs: longer than a statement of ours that is answered in time. */
const BACK = 3_000_000;
/** The session has ended, or is another user's. */
const NOT_OURS: readonly (number | undefined)[] = [1094, 1095];
/** Interrupted, or ended by a time limit of the server. */
const INTERRUPTED: readonly (number | undefined)[] = [1317, 1969, 3024];

export interface WakeSessionParts extends Pick<WireTerms, 'received' | 'lost'> {
  readonly connect: ConnectMysql;
  readonly tables: MysqlTables;
  readonly channel: string;
  /** The named lock that another session of this process holds. */
  readonly gate: string;
}

export interface WakeSession {
  /** The address of this process, in wakes for it. */
  readonly address: string;
  /** Takes a wake that came with the reply to something else: a tag, its time and a status. */
  takeLine(line: string): void;
  /** Takes a message that is written down nowhere. */
  wake(message: string): void;
  /** Takes all wakes; on the session that has the gate, whenever `LOOK` was received. */
  look(connection: MysqlSession): Promise<void>;
  end(): void;
}

/** The listening session of a process, as the server finds it. */
export function sessionOf(address: string): string {
  return `IS_USED_LOCK(${literal(`${CHANNEL}${address}`)})`;
}

/**
 * Ends a session (`CONNECTION (…)`), or what it waits for (`QUERY (…)`). The brackets are for
 * proxies, which take a bare number for that of a session of their own.
 */
export async function kill(connection: Pick<MysqlSession, 'query'>, what: string): Promise<void> {
  await connection.query(`KILL ${what}`).catch((error: unknown) => {
    if (!NOT_OURS.includes(numberOf(error))) throw error;
  });
}

/** Resolves when no wake can be missed. */
export async function listen(parts: WakeSessionParts): Promise<WakeSession> {
  const { connect, tables, channel, gate, received, lost } = parts;
  const address = channel.slice(CHANNEL.length);
  const over = new AbortController();
  const connection = await limited(CONNECT_MS, [over.signal], (signal) =>
    connect({ signal, lost }),
  );
  // Its wait without end keeps no process alive.
  connection.unref();
  let now = await first(connection, over.signal, () => take(connection, channel));
  const seen = new Map<string, number>();
  const takeLine = (line: string): void => {
    const [tag, at, ...status] = line.split(' ');
    if (seen.has(`${tag} ${at}`)) return;
    seen.set(`${tag} ${at}`, Number(at));
    received(`${tag} ${status.join(' ')}`);
  };
  let turn = 0;
  const begun = (): string => literal(`${gate}_${turn}`);
  const wait = async (): Promise<void> => {
    turn += 1;
    // Frees the names of earlier waits, which the channel is free with for a moment.
    const text = `SELECT RELEASE_ALL_LOCKS(), GET_LOCK(${literal(channel)}, 0),
  GET_LOCK(${begun()}, 0), GET_LOCK(${literal(gate)}, ${WAIT_S}) ${ON_PRIMARY}`;
    const waiting = limited(WAIT_S * 1000 + LATE_MS, [], (signal) =>
      abortable(signal, connection.query(text)),
    );
    received(LOOK);
    const [[, own, , opened] = []] = await waiting;
    // Either is NULL when rung, on MariaDB.
    if (own === '0') throw new Error('The named lock of the channel is not to be had');
    if (opened === '1') throw new Error('The session that this one belongs to is over');
  };
  const look = async (asking: MysqlSession): Promise<void> => {
    const [of, since] = [turn, now - BACK];
    for (const [each, at] of seen) if (at < since) seen.delete(each);
    // Whether the wait has begun, and the time, both before anything is read.
    const [[waits, at] = [], ...finds] = await asking.query(
      `SELECT IS_USED_LOCK(${begun()}), ${NOW} ${ON_PRIMARY};
${wakesSince(since, address, tables)}`,
    );
    for (const [line] of finds) takeLine(String(line));
    now = Number(at);
    // Not at once: heartbeats have their turn on this session, whenever the wait begins.
    if (waits === null) setTimeout(() => of === turn && received(LOOK), AGAIN_MS).unref();
  };
  const repeat = async (): Promise<void> => {
    while (!over.signal.aborted) {
      await wait().catch((error: unknown) => {
        if (!INTERRUPTED.includes(numberOf(error))) throw error;
      });
    }
  };
  const end = (): void => {
    over.abort();
    connection.end();
  };
  // Not at once: a listener receives nothing, no LOOK either, until this function has returned.
  setImmediate(() => {
    repeat().catch((error: unknown) => {
      if (!over.signal.aborted) lost(error);
      end();
    });
  });
  return { address, takeLine, wake: received, look, end };
}

/** Takes the channel, so that an interrupt finds this session; returns the time. */
async function take(connection: MysqlSession, channel: string): Promise<number> {
  // Ends the session of a connection that this process gave up, which may not know it yet.
  const ask = `SELECT IS_USED_LOCK(${literal(channel)}) ${ON_PRIMARY}`;
  const [[former] = []] = await connection.query(ask);
  if (former) await kill(connection, `CONNECTION (${former})`);
  const [[own, now] = []] = await connection.query(
    `SELECT GET_LOCK(${literal(channel)}, ${CHANNEL_S}), ${NOW} ${ON_PRIMARY}`,
  );
  if (own !== '1') throw new Error('The named lock of the channel is not to be had');
  return Number(now);
}

function wakesSince(since: number, address: string, { lock, news }: MysqlTables): string {
  const [from, to] = [`${address} ${since}`, `${address} 9`].map(literal);
  return `SELECT CONCAT_WS(' ', SUBSTRING(tag, 18), SUBSTRING(told, 18), ${HELD_LINE})
FROM ${lock} WHERE told BETWEEN ${from} AND ${to}
UNION ALL
SELECT CONCAT_WS(' ', SUBSTRING(${wordOf(1, 5)}, 18), SUBSTRING(next_told, 18), ${NEXT_LINE})
FROM ${lock} WHERE next_told BETWEEN ${from} AND ${to} AND waiters > 0
UNION ALL
SELECT CONCAT_WS(' ', SUBSTRING_INDEX(message, ' ', 1), at,
  SUBSTRING(message, CHAR_LENGTH(SUBSTRING_INDEX(message, ' ', 1)) + 2))
FROM ${news} WHERE address = ${literal(address)} AND at >= ${since}`;
}
