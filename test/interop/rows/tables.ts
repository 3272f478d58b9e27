/** The tables of the libraries, as they themselves make them. */
import type { Dialect } from '../../../src/clients/sql/sql.ts';

export const SHEDLOCK: Readonly<Record<Dialect, string>> = {
  postgres: `CREATE TABLE shedlock (name VARCHAR(64) NOT NULL, lock_until TIMESTAMP NOT NULL,
  locked_at TIMESTAMP NOT NULL, locked_by VARCHAR(255) NOT NULL, PRIMARY KEY (name))`,
  mysql: `CREATE TABLE shedlock (name VARCHAR(64) NOT NULL, lock_until TIMESTAMP(3) NOT NULL,
  locked_at TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3), locked_by VARCHAR(255) NOT NULL,
  PRIMARY KEY (name))`,
};

const TIME: Readonly<Record<Dialect, string>> = { postgres: 'TIMESTAMP', mysql: 'DATETIME(6)' };

/** Version 6, too: the column for the end is what 7 has added. */
export function intLock(dialect: Dialect, version: 6 | 7): string {
  const time = `${TIME[dialect]} NOT NULL`;
  const end = version === 7 ? `, EXPIRED_AFTER ${time}` : '';
  return `CREATE TABLE INT_LOCK (LOCK_KEY CHAR(36) NOT NULL, REGION VARCHAR(100) NOT NULL,
  CLIENT_ID CHAR(36), CREATED_DATE ${time}${end},
  CONSTRAINT INT_LOCK_PK PRIMARY KEY (LOCK_KEY, REGION))`;
}
