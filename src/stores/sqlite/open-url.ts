import { UsageError } from '../../base/errors.ts';
import type { Store } from '../../contract/store.ts';
import { sqliteStore } from './index.ts';

/** The path of a file, with or without slashes before it. @throws UsageError */
export function openUrl(_scheme: string, rest: string): Store {
  const file = rest.startsWith('//') ? rest.slice(2) : rest;
  if (file === '') throw new UsageError(`'sqlite:' needs a file, as in 'sqlite:./locks.db'.`);
  return sqliteStore(file);
}
