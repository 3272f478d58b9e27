/** The package that a database client comes from. */
import { has } from '../members.ts';
import type { ClientScope } from './client.ts';
import { ormOf } from './orms.ts';

export type Package =
  | 'pg'
  | 'postgres'
  | 'mysql2'
  | 'mariadb'
  | 'kysely'
  | 'drizzle'
  | 'orm'
  | 'other';

export interface Recognised {
  readonly name: Package;
  readonly place: ClientScope;
}

/** The first that fits counts: some have the methods of others as well. */
export function packageOf(client: unknown): Recognised | undefined {
  const inside = (yes: boolean): ClientScope => (yes ? 'transaction' : 'pool');
  if (has(client, 'rows', 'count')) {
    return { name: 'other', place: inside(client.transaction === true) };
  }
  const orm = ormOf(client);
  if (orm) return { name: 'orm', place: inside(orm.inside(client)) };
  if (has(client, 'getExecutor', 'executeQuery')) {
    return { name: 'kysely', place: inside(client.isTransaction === true) };
  }
  if (has(client, 'execute', 'select', 'transaction')) {
    return { name: 'drizzle', place: inside(has(client, 'rollback')) };
  }
  if (has(client, 'unsafe')) {
    const reserved = has(client, 'release') && !has(client, 'savepoint');
    return { name: 'postgres', place: reserved ? 'connection' : inside(has(client, 'savepoint')) };
  }
  if (has(client, 'query', 'escapeIdentifier')) return { name: 'pg', place: 'connection' };
  if (has(client, 'query', 'connect') && 'totalCount' in client) {
    return { name: 'pg', place: 'pool' };
  }
  if (!has(client, 'query', 'execute')) return undefined;
  const name = has(client, 'batch') ? 'mariadb' : 'mysql2';
  if (has(client, 'beginTransaction')) return { name, place: 'connection' };
  return has(client, 'getConnection') ? { name, place: 'pool' } : undefined;
}
