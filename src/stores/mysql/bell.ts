/**
 * News, although MySQL sends none: a session of the process waits for a named lock, the gate, that
 * its other session holds, and a session with news for the process interrupts that (`ring` in
 * schema.sql), as of the commit that made the news.
 *
 * Invariant: no news is missed while the call repeats. Each call begins with a look at what is
 * committed, and one that is interrupted after it has begun ends, and is repeated. The ringing
 * session finds this one by the named lock of its channel, so it never mistakes another connection
 * for one that has ended. When the other session ends, the gate opens, and this one ends as well.
 * The call passes its finds on at once and goes on, as its results are read as they come. A look
 * goes back a while before the last call, since a commit may come later than its time says; so the
 * call takes along what has been seen.
 * What would break it: a proxy that gives the session to others while it holds a named lock; known
 * proxies do not.
 */
import { afterInput } from '../../base/event-loop.ts';
import { limited } from '../abortable.ts';
import type { WireTerms } from '../sql/wire.ts';
import { type Connect, type Connection, literal } from './connection.ts';
import { numberOf } from './errors.ts';

/** Proxies send other SELECTs to replicas, where a named lock excludes no other session. */
export const ON_PRIMARY = 'FOR UPDATE';
/** How long the call waits for the gate, in s. */
const WAIT_S = 15;
/** A call that is so much too late is taken for dead, in ms. */
const LATE_MS = 3000;
const CONNECT_MS = 5000;
/** How far a look goes back, in µs: longer than a call of ours that is answered in time. */
const BACK = 3_000_000;
/** The session has ended, or is another user's. */
const NOT_OURS: readonly (number | undefined)[] = [1094, 1095];
/** Interrupted, at the end of a cursor, or ended by a time limit of the server. */
const RUNG: readonly (number | undefined)[] = [1317, 1329, 1969, 3024];
/** Later than anything. */
const NEVER = 2 ** 53;

export interface BellParts extends Pick<WireTerms, 'heard' | 'lost'> {
  readonly connect: Connect;
  readonly prefix: string;
  readonly channel: string;
  /** The named lock that another session of this process holds. */
  readonly gate: string;
}

export interface Bell {
  /** The address of this process, where news is for it. */
  readonly address: string;
  /** Takes news that came with the reply to something else. */
  tell(news: string): void;
  end(): void;
}

/** Resolves when no news can be missed. */
export async function listen(parts: BellParts): Promise<Bell> {
  const { connect, channel, gate, prefix, heard, lost } = parts;
  const over = new AbortController();
  const connection = await limited(CONNECT_MS, [over.signal], (signal) =>
    connect({ signal, lost }),
  );
  const seen = new Map<string, number>();
  let now: number | undefined;
  const tell = (row: string | null): void => {
    const [tag = '', at, ...status] = String(row).split(' ');
    if (at === undefined) {
      now = Number(tag);
      return ready();
    }
    seen.set(tag, Number(at));
    // A reason may have several lines, so the claim asks for it.
    heard(`${tag} ${status.length > 0 && status[0] !== 'g' ? status.join(' ') : '?'}`);
  };
  const look = (since: number, seconds: number): Promise<unknown> => {
    for (const [tag, then] of seen) if (then < since) seen.delete(tag);
    const known = Array.from(seen, ([tag, then]) => `${tag}:${then} `).join('');
    const args = [literal(channel), literal(gate), since, `' ${known}'`, seconds];
    return inTime(connection.query(`CALL ${prefix}listen(${args.join(', ')})`, tell));
  };
  const repeat = async (): Promise<void> => {
    await endFormer(connection, channel);
    while (!over.signal.aborted) {
      try {
        await (now === undefined ? look(NEVER, 0) : look(now - BACK, WAIT_S));
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
  return { address: channel.slice(channel.lastIndexOf('_') + 1), tell, end };
}

/**
 * Ends the session of a connection that this process gave up, which may not know it yet, with the
 * rights of the program's own user: no routine has the right to end sessions.
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
function inTime(call: Promise<unknown>): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const late = (): void => reject(new Error('ETIMEDOUT'));
    const timer = setTimeout(() => afterInput(late), WAIT_S * 1000 + LATE_MS).unref();
    call.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
