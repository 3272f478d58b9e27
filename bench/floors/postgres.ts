/**
 * Floors: the fewest statements that do the work, with nothing around them.
 *
 * Uncontended, it is one row that is taken if it is free, and left as a tombstone. Contended, it is
 * one function that takes the row or joins a queue, and one that leaves: that grants and tells in
 * the same transaction, so a hand-off costs one message. Nothing here expires a waiter, repairs a
 * lost message, issues a token or notices that a lease is over.
 */
import pg from 'pg';
import { type Connect, type Connected, TTL_MS } from '../measuring/subject.ts';
import { twoStatements } from './two-statements.ts';

/** At most so many want a lock at once, each on a connection of its own. */
const CONNECTIONS = 64;

export const TABLES = `
CREATE SCHEMA IF NOT EXISTS bare;
CREATE TABLE IF NOT EXISTS bare.lock (
  name text PRIMARY KEY, owner text, expires timestamptz NOT NULL
) WITH (fillfactor = 50);
CREATE TABLE IF NOT EXISTS bare.queue (
  name text, number bigint GENERATED ALWAYS AS IDENTITY, owner text NOT NULL, channel text NOT NULL,
  PRIMARY KEY (name, number)
);
CREATE OR REPLACE FUNCTION bare.enter(asked text, asking text, channel text) RETURNS boolean
LANGUAGE plpgsql AS $$
DECLARE held text;
BEGIN
  INSERT INTO bare.lock AS l VALUES (asked, asking, 'infinity')
  ON CONFLICT (name) DO UPDATE SET owner = coalesce(l.owner, asking) RETURNING l.owner INTO held;
  IF held = asking THEN RETURN true; END IF;
  INSERT INTO bare.queue (name, owner, channel) VALUES (asked, asking, channel);
  RETURN false;
END $$;
CREATE OR REPLACE FUNCTION bare.leave(asked text, asking text) RETURNS void
LANGUAGE plpgsql AS $$
DECLARE next bare.queue;
BEGIN
  PERFORM FROM bare.lock WHERE name = asked AND owner = asking FOR UPDATE;
  DELETE FROM bare.queue q WHERE q.name = asked AND q.number = (
    SELECT number FROM bare.queue WHERE name = asked ORDER BY number LIMIT 1
  ) RETURNING * INTO next;
  UPDATE bare.lock SET owner = next.owner WHERE name = asked;
  IF next.owner IS NOT NULL THEN PERFORM pg_notify(next.channel, next.owner); END IF;
END $$`;

const TEXTS = {
  take: `INSERT INTO bare.lock AS l
    VALUES ($1, $2, clock_timestamp() + interval '${TTL_MS} ms')
    ON CONFLICT (name) DO UPDATE SET owner = excluded.owner, expires = excluded.expires
    WHERE l.expires <= clock_timestamp() RETURNING true`,
  leave: `UPDATE bare.lock SET owner = NULL, expires = '-infinity' WHERE name = $1 AND owner = $2`,
};

function insertAndUpdate(url: string): Connected {
  const pool = new pg.Pool({ connectionString: url, max: CONNECTIONS });
  // Those with a name are prepared.
  const run = async (text: string, values: string[]): Promise<number | null> =>
    (await pool.query({ name: text.slice(0, 6), text, values })).rowCount;
  return twoStatements(TEXTS, run, () => pool.end());
}

/** Joining waits neither for a release nor for messages. */
async function rowAndNotify(url: string): Promise<Connected> {
  const one = { connectionString: url, max: 1 };
  const [joining, leaving] = [new pg.Pool(one), new pg.Pool(one)];
  const listening = new pg.Client(url);
  await listening.connect();
  const channel = `bare_${process.pid}_${process.hrtime.bigint()}`;
  const waiting = new Map<string, () => void>();
  listening.on('notification', ({ payload = '' }) => waiting.get(payload)?.());
  await listening.query(`LISTEN ${channel}`);
  let count = 0;

  const enter = async (resource: string, id: string): Promise<boolean> => {
    const text = 'SELECT bare.enter($1, $2, $3) AS held';
    const answer = await joining.query({ name: 'enter', text, values: [resource, id, channel] });
    return answer.rows[0].held === true;
  };
  return {
    task: (resource) => async () => {
      const id = `${channel}_${count++}`;
      const told = new Promise<void>((resolve) => waiting.set(id, resolve));
      if (!(await enter(resource, id))) await told;
      waiting.delete(id);
      const text = 'SELECT bare.leave($1, $2)';
      return async () => leaving.query({ name: 'leave', text, values: [resource, id] });
    },
    close: () => Promise.all([joining.end(), leaving.end(), listening.end()]),
  };
}

export const floors: Readonly<Record<string, Connect>> = {
  'floor: INSERT … ON CONFLICT + UPDATE, pg': insertAndUpdate,
  'floor: row and LISTEN/NOTIFY': rowAndNotify,
};
