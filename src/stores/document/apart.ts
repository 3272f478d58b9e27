import type { DocumentStoreOptions } from './index.ts';

/** The options of `documentStore`, and those of its documents, which refuse unknown ones. */
export function apart<T extends DocumentStoreOptions>(
  options: T,
): readonly [DocumentStoreOptions, Omit<T, keyof DocumentStoreOptions>] {
  const { maxWaiters, clock, ...own } = Object(options) as T;
  return [{ maxWaiters, clock } as DocumentStoreOptions, own];
}
