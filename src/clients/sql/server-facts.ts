import { clockOffset, type ServerFacts } from '../facts/server-facts.ts';
import type { SqlDatabase } from './clients.ts';
import { connectionOf } from './connection.ts';

const QUESTIONS = {
  postgres: {
    version: `SELECT 'PostgreSQL ' || current_setting('server_version') AS answer`,
    nowMs: 'SELECT extract(epoch FROM clock_timestamp()) * 1000 AS answer',
  },
  mysql: {
    version: `SELECT concat(if(version() LIKE '%MariaDB%', 'MariaDB ', 'MySQL '), version())
      AS answer`,
    nowMs: 'SELECT unix_timestamp(sysdate(3)) * 1000 AS answer',
  },
} as const;

/** Asks over the client, and ends it. @throws TransactionError */
export async function sqlFacts(
  db: SqlDatabase & { end(): unknown },
  dialect: keyof typeof QUESTIONS,
): Promise<ServerFacts> {
  const connection = connectionOf(db);
  const ask = async (text: string): Promise<unknown> => (await connection.rows(text))[0]?.answer;
  try {
    const version = String(await ask(QUESTIONS[dialect].version));
    const clock = await clockOffset(async () => Number(await ask(QUESTIONS[dialect].nowMs)));
    return { version, clock };
  } finally {
    await db.end();
  }
}
