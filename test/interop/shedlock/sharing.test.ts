/** Locks that are shared with the real ShedLock, in both directions. */
import { afterAll, beforeAll, describe } from 'vitest';
import { javaDriver } from '../../methods/sharing/java.ts';
import { jdbcUrl, LIBRARIES } from '../../methods/sharing/libraries.ts';
import { LEASE_MS, pairSuite } from '../../methods/sharing/pair-suite.ts';
import { type Ground, ground, MARIADB, POSTGRES } from '../rows/ground.ts';
import { SHEDLOCK } from '../rows/tables.ts';

describe.each([
  ['ShedLock 7 on PostgreSQL', POSTGRES, 'new'],
  ['ShedLock 5 on MariaDB', MARIADB, 'old'],
] as const)('%s', (name, database, version) => {
  let place: Ground;
  beforeAll(async () => {
    place = await ground(database, SHEDLOCK[database.dialect]);
  });
  afterAll(() => place.close());

  pairSuite(name, {
    kind: 'jdbc',
    foreign: () =>
      javaDriver('ShedlockDriver', LIBRARIES[version], jdbcUrl(place.url), `${LEASE_MS}`),
    own: () => ['shedlock-jdbc', place.url],
    tellsLoss: false,
  });
});
