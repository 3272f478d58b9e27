/** Locks that are shared with the real `JdbcLockRegistry`, in both directions. */
import { afterAll, beforeAll, describe } from 'vitest';
import { javaDriver } from '../../methods/sharing/java.ts';
import { jdbcUrl, LIBRARIES } from '../../methods/sharing/libraries.ts';
import { LEASE_MS, pairSuite } from '../../methods/sharing/pair-suite.ts';
import { type Ground, ground, MARIADB, POSTGRES } from '../rows/ground.ts';
import { intLock } from '../rows/tables.ts';

describe.each([
  ['Spring Integration 7 on PostgreSQL', POSTGRES, 7],
  ['Spring Integration 6 on MariaDB', MARIADB, 6],
] as const)('%s', (name, database, version) => {
  let place: Ground;
  beforeAll(async () => {
    place = await ground(database, intLock(database.dialect, version));
  });
  afterAll(() => place.close());

  pairSuite(name, {
    kind: 'jdbc',
    foreign: () => {
      const library = LIBRARIES[version === 7 ? 'new' : 'old'];
      return javaDriver('SpringDriver', library, jdbcUrl(place.url), `${LEASE_MS}`);
    },
    own: () => {
      const older = version === 6 ? { timeToLive: LEASE_MS } : {};
      return ['spring-jdbc', place.url, { version, ...older, clockSkew: 100 }];
    },
  });
});
