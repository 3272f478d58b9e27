export { type DocumentStoreOptions, documentStore } from './document-store.ts';
export type { Documents } from './documents.ts';
