import type { Store } from '../../contract/store.ts';
import { type DocumentStoreOptions, documentStore } from '../document/index.ts';
import { type MongoCollection, mongodbDocuments } from './documents.ts';

export type { DocumentStoreOptions } from '../document/index.ts';
export type { MongoCollection } from './documents.ts';

/**
 * Locks as documents of a collection of MongoDB, in a replica set or a sharded cluster.
 *
 * @example
 * import { mongodbStore } from 'holdfast/mongodb';
 * import { MongoClient } from 'mongodb';
 *
 * const client = new MongoClient('mongodb://localhost');
 * const store = mongodbStore(client.db('shop').collection('locks'));
 *
 * @throws UsageError
 */
export function mongodbStore(
  collection: MongoCollection,
  options: DocumentStoreOptions = {},
): Store {
  return documentStore(mongodbDocuments(collection), options);
}
