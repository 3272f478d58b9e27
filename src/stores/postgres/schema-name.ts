import { UsageError } from '../../base/errors.ts';
import { show } from '../../base/show.ts';

/** @throws UsageError unless it is a name that needs no escapes. */
export function checkSchema(schema: string): string {
  if (typeof schema === 'string' && /^[A-Za-z_][A-Za-z0-9_]{0,62}$/.test(schema)) return schema;
  const message = `schema must be 1 to 63 letters, digits or '_', the first one no digit`;
  throw new UsageError(`${message}, not ${show(schema)}.`);
}

export function quoted(schema: string): string {
  return `"${schema}"`;
}
