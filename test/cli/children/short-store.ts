/** A store on a file, with a maxTtl of its own, as Redis, PostgreSQL and MySQL have one. */
import type { Store } from 'holdfast';
import { sqliteStore } from 'holdfast/sqlite';

// biome-ignore lint/style/noDefaultExport: the module of a store is its default export.
export default (file: string): Store => Object.assign(sqliteStore(file), { maxTtlMs: 5_000 });
