/** Rows that are shared with the real ShedLock and `JdbcLockRegistry`, in both directions. */
import { afterAll, beforeAll, describe } from 'vitest';
import { javaDriver } from '../../methods/sharing/java.ts';
import { jdbcUrl, LIBRARIES } from '../../methods/sharing/libraries.ts';
import { LEASE_MS, pairSuite } from '../../methods/sharing/pair-suite.ts';
import { type Ground, ground, MARIADB, POSTGRES } from './ground.ts';
import { intLock, SHEDLOCK } from './tables.ts';

const JOBS = { program: 'ShedlockDriver', dialect: 'shedlock-jdbc', tellsLoss: false };
const SPRING = { program: 'SpringDriver', dialect: 'spring-jdbc', tellsLoss: true };
const SEVEN = { version: 7, clockSkew: 100 };
const SIX = { version: 6, clockSkew: 100, timeToLive: LEASE_MS };

describe.each([
  ['ShedLock 7 on PostgreSQL', JOBS, POSTGRES, 'new', SHEDLOCK.postgres, {}],
  ['ShedLock 5 on MariaDB', JOBS, MARIADB, 'old', SHEDLOCK.mysql, {}],
  ['Spring Integration 7 on PostgreSQL', SPRING, POSTGRES, 'new', intLock('postgres', 7), SEVEN],
  ['Spring Integration 6 on MariaDB', SPRING, MARIADB, 'old', intLock('mysql', 6), SIX],
] as const)('%s', (name, { program, dialect, tellsLoss }, database, version, table, options) => {
  let place: Ground;
  beforeAll(async () => {
    place = await ground(database, table);
  });
  afterAll(() => place.close());

  pairSuite(name, {
    ...{ kind: 'jdbc', tellsLoss },
    foreign: () => javaDriver(program, LIBRARIES[version], jdbcUrl(place.url), `${LEASE_MS}`),
    own: () => [dialect, place.url, options],
  });
});
