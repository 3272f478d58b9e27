/**
 * A value that all copies of the library in this process share, such as its ESM and CommonJS
 * builds. Copies may be of different versions: a value whose shape changes gets a new name.
 */
export function perProcess<T extends object>(name: string, make: () => T): T {
  const root = globalThis as Record<symbol, T | undefined>;
  const key = Symbol.for(`holdfast.${name}`);
  root[key] ??= make();
  return root[key];
}
