/**
 * News, although MySQL sends none: a session of the process waits for a named lock, the gate, that
 * its other session holds, and whoever has news for the process interrupts that (`ring`), after the
 * commit that made the news. Every user may do that to sessions of the same user; a process of
 * another user finds the news when it looks.
 *
 * Invariant: no news is missed while the call repeats. Each call begins with a look at what is
 * committed, and one that is interrupted after it has begun ends, and is repeated. The ringing
 * session finds this one by the named lock of its channel, so it never mistakes another connection
 * for one that has ended. When the other session ends, the gate opens, and this one ends as well.
 * The call passes its finds on at once and goes on, as its results are read as they come. A look
 * goes back a while before the last call, since a commit may come later than its time says; so the
 * call takes along what has been seen. What nobody rings for is seen within a second.
 * What would break it: a proxy that gives the session to others while it holds a named lock; known
 * proxies do not.
 */
import { afterInput } from '../../base/event-loop.ts';
import { limited } from '../../clients/abortable.ts';
import { type Connect, type Connection, literal } from '../../clients/mysql/connection.ts';
import { numberOf } from '../../clients/mysql/errors.ts';
import type { WireTerms } from '../../clients/wire.ts';
import { HELD_LINE, NEXT_LINE, NOW, type Tables, wordOf } from './fragments.ts';

/** Proxies send other SELECTs to replicas, where a named lock excludes no other session. */
export const ON_PRIMARY = 'FOR UPDATE';
/** How long the call waits for the gate, in s. */
const WAIT_S = 1;
/** How long the session may wait for its channel, in s. */
const CHANNEL_S = 2;
/** A call that is so much too late is taken for dead, in ms. */
const LATE_MS = 3000;
const CONNECT_MS = 5000;
/** How far a look goes back, in µs: longer than a call of ours that is answered in time. */
const BACK = 3_000_000;
/** The session has ended, or is another user's. */
const NOT_OURS: readonly (number | undefined)[] = [1094, 1095];
/** Interrupted, or ended by a time limit of the server. */
const RUNG: readonly (number | undefined)[] = [1317, 1969, 3024];

export interface BellParts extends Pick<WireTerms, 'heard' | 'lost'> {
  readonly connect: Connect;
  readonly tables: Tables;
  readonly channel: string;
  /** The named lock that another session of this process holds. */
  readonly gate: string;
}

export interface Bell {
  /** The address of this process, where news is for it. */
  readonly address: string;
  /** Takes news that came with the reply to something else: a tag, its time and a status. */
  news(line: string): void;
  /** Takes a message that is written down nowhere. */
  tell(message: string): void;
  end(): void;
}

/** The channels of processes; an address follows. */
export const CHANNEL = 'holdfast_';

/** Interrupts the listening session of another process. */
export async function ring(connection: Connection, address: string): Promise<void> {
  const text = `KILL QUERY IS_USED_LOCK(${literal(`${CHANNEL}${address}`)})`;
  await connection.query(text).catch((error: unknown) => {
    if (!NOT_OURS.includes(numberOf(error))) throw error;
  });
}

/** Resolves when no news can be missed. */
export async function listen(parts: BellParts): Promise<Bell> {
  const { connect, tables, channel, gate, heard, lost } = parts;
  const address = channel.slice(CHANNEL.length);
  const over = new AbortController();
  const connection = await limited(CONNECT_MS, [over.signal], (signal) =>
    connect({ signal, lost }),
  );
  const seen = new Map<string, number>();
  let now: number | undefined;
  const news = (line: string): void => {
    const [tag, at, ...status] = line.split(' ');
    if (seen.has(`${tag} ${at}`)) return;
    seen.set(`${tag} ${at}`, Number(at));
    heard(`${tag} ${status.join(' ')}`);
  };
  const found = (value: string | null): void => {
    const [word, ...rest] = String(value).split(' ');
    if (word === 'news') news(rest.join(' '));
    if (word !== 'now') return;
    now = Number(rest[0]);
    ready();
  };
  const call = async (): Promise<void> => {
    const since = now === undefined ? undefined : now - BACK;
    for (const [each, at] of seen) if (at < (since ?? 0)) seen.delete(each);
    const gated = `SELECT GET_LOCK(${literal(gate)}, ${WAIT_S}) ${ON_PRIMARY}`;
    const text = `${lookOf(tables, address, since)};\n${gated}`;
    const rows = await inTime(connection.query(text, found));
    if (rows.at(-1)?.[0] === '1') throw new Error('The session that this one belongs to is over');
  };
  const repeat = async (): Promise<void> => {
    await endFormer(connection, channel);
    const [[own] = []] = await connection.query(
      `SELECT GET_LOCK(${literal(channel)}, ${CHANNEL_S}) ${ON_PRIMARY}`,
    );
    if (own !== '1') throw new Error('The named lock of the channel is not to be had');
    while (!over.signal.aborted) {
      try {
        await call();
      } catch (error) {
        if (!RUNG.includes(numberOf(error))) throw error;
      }
    }
  };
  let ready = (): void => {};
  const end = (): void => {
    over.abort();
    connection.end();
  };
  await new Promise<void>((resolve, reject) => {
    ready = resolve;
    repeat().catch((error: unknown) => {
      reject(error);
      if (!over.signal.aborted) lost(error);
      end();
    });
  });
  return { address, news, tell: heard, end };
}

/** The time, and all news since then; none of before the first call. */
function lookOf({ lock, news }: Tables, address: string, since: number | undefined): string {
  const now = `SELECT CONCAT('now ', ${NOW})`;
  if (since === undefined) return now;
  const [from, to] = [`${address} ${since}`, `${address} 9`].map(literal);
  return `${now};
SELECT CONCAT_WS(' ', 'news', SUBSTRING(tag, 18), SUBSTRING(told, 18), ${HELD_LINE})
FROM ${lock} WHERE told BETWEEN ${from} AND ${to}
UNION ALL
SELECT CONCAT_WS(' ', 'news', SUBSTRING(${wordOf(1, 5)}, 18), SUBSTRING(next_told, 18),
  ${NEXT_LINE})
FROM ${lock} WHERE next_told BETWEEN ${from} AND ${to} AND waiters > 0
UNION ALL
SELECT CONCAT_WS(' ', 'news', SUBSTRING_INDEX(message, ' ', 1), at,
  SUBSTRING(message, CHAR_LENGTH(SUBSTRING_INDEX(message, ' ', 1)) + 2))
FROM ${news} WHERE address = ${literal(address)} AND at >= ${since}`;
}

/**
 * Ends the session of a connection that this process gave up, which may not know it yet, with the
 * rights of the program's own user.
 */
async function endFormer(connection: Connection, channel: string): Promise<void> {
  const ask = `SELECT IS_USED_LOCK(${literal(channel)}) ${ON_PRIMARY}`;
  const [[former] = []] = await connection.query(ask);
  if (!former) return;
  await connection.query(`KILL CONNECTION ${former}`).catch((error: unknown) => {
    if (!NOT_OURS.includes(numberOf(error))) throw error;
  });
}

/** Rejects if the connection is half-open, or the server stands still. */
function inTime<T>(call: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const late = (): void => reject(new Error('ETIMEDOUT'));
    const timer = setTimeout(() => afterInput(late), WAIT_S * 1000 + LATE_MS).unref();
    call.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
