/** Texts of the program in statements. */
import { UsageError } from '../../base/errors.ts';
import { show } from '../../base/show.ts';

/** The statement with its values in it, for `$1` and so on. */
export function literal(text: string, values: readonly string[]): string {
  return text.replace(/\$(\d+)/g, (_, nth: string) => quote(values[Number(nth) - 1] ?? ''));
}

/** Correct however the server reads a backslash in other literals. */
function quote(value: string): string {
  return `E'${value.replaceAll('\\', '\\\\').replaceAll("'", "''")}'`;
}

/** An array of texts, as the server reads one. */
export function arrayOf(values: readonly (string | number | boolean)[]): string {
  const words = values.map((value) => `"${String(value).replace(/["\\]/g, '\\$&')}"`);
  return `{${words.join(',')}}`;
}

/** @throws UsageError unless it is a name that needs no escapes. */
export function checkSchema(schema: string): string {
  if (typeof schema === 'string' && /^[A-Za-z_][A-Za-z0-9_]{0,62}$/.test(schema)) return schema;
  const message = `schema must be 1 to 63 letters, digits or '_', the first one no digit`;
  throw new UsageError(`${message}, not ${show(schema)}.`);
}
