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
