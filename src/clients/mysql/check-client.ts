/** Refuses a value that is not a client of MySQL or MariaDB, or an unusable one. */
import { has, type Members, notAClient, over, refuseText } from '../members.ts';
import { packageOf } from '../sql/packages.ts';
import { coreOf } from './mysql2-connection.ts';

const EXPECTED = {
  what: 'A MySQL or MariaDB client',
  clients: 'a pool or connection of mysql2 or mariadb, with callbacks or promises',
};

/** @throws UsageError */
export function checkClient(client: unknown): 'mysql2' | 'mariadb' {
  refuseText(client, EXPECTED);
  const name = packageOf(client)?.name;
  if (name === 'mysql2' && has(client, 'end', 'format', 'on')) {
    const core = coreOf(client) as Members | undefined;
    if (!core) throw notAClient(client, EXPECTED);
    if (core._closed === true || core._closing === true) throw over('has ended');
    return name;
  }
  if (name !== 'mariadb' || !has(client, 'end', 'escapeId')) throw notAClient(client, EXPECTED);
  const valid = has(client, 'isValid')
    ? Reflect.apply(client.isValid as () => unknown, client, [])
    : true;
  // A pool has no threads.
  if (client.closed === true || ('threadId' in client && valid === false)) throw over('has ended');
  return name;
}
