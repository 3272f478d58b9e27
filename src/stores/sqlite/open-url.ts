import { UsageError } from '../../base/errors.ts';
import type { Store } from '../../contract/store.ts';
import { optionsFrom } from '../url-options.ts';
import { type SqliteOptions, sqliteStore } from './index.ts';

/**
 * The path of a file as it is, with or without slashes before it, and options of the store as the
 * query.
 * @throws UsageError
 */
export function openUrl(_scheme: string, rest: string): Store {
  const [, file = '', query = ''] = /^(?:\/\/)?([^?]*)\??(.*)$/s.exec(rest) ?? [];
  if (file === '') throw new UsageError(`'sqlite:' needs a file, as in 'sqlite:./locks.db'.`);
  return sqliteStore(file, optionsFrom<SqliteOptions>(new URLSearchParams(query)));
}
