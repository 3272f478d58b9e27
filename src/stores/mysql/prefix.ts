import { UsageError } from '../../base/errors.ts';
import { show } from '../../base/show.ts';

/** The default prefix of tables and procedures. */
export const PREFIX = 'holdfast_';

/** @throws UsageError unless names with this prefix need no quotes. */
export function checkPrefix(prefix: string): string {
  if (typeof prefix === 'string' && /^[a-z][a-z0-9_]{0,31}$/.test(prefix)) return prefix;
  const message = `prefix must be 1 to 32 small letters, digits or '_', the first one a letter`;
  throw new UsageError(`${message}, not ${show(prefix)}.`);
}
