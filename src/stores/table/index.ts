import type { SqlDatabase } from '../../clients/sql/clients.ts';
import type { Store } from '../../contract/store.ts';
import { apart, type DocumentStoreOptions, documentStore } from '../document/document-store.ts';
import { type TableOptions, tableDocuments } from './documents.ts';

export type { SqlDatabase } from '../../clients/sql/clients.ts';
export { tableSchema } from './documents.ts';

export interface TableStoreOptions extends TableOptions, DocumentStoreOptions {}

/**
 * Locks as rows of a plain table, through any client of PostgreSQL, MySQL, MariaDB, and whatever
 * speaks like them. Make the table first: `tableSchema` has its statement.
 *
 * @example
 * import { tableStore } from 'holdfast/table';
 *
 * const store = tableStore(pool);
 *
 * @param db a pool, whose statements commit by themselves.
 * @throws UsageError
 */
export function tableStore(db: SqlDatabase, options: TableStoreOptions = {}): Store {
  const [common, own] = apart(options);
  return documentStore(tableDocuments(db, own), common);
}
