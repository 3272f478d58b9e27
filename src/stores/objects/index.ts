import type { ObjectAccess } from '../../clients/objects/access.ts';
import type { Store } from '../../contract/store.ts';
import { type DocumentStoreOptions, documentStore } from '../document/index.ts';
import { objectDocuments } from './documents.ts';

export type { AwsClient } from '../../clients/aws/send.ts';
export type { ConditionalPut, ObjectAccess, StoredObject } from '../../clients/objects/access.ts';
export { type S3ObjectsOptions, s3Objects } from '../../clients/objects/s3-objects.ts';
export type { DocumentStoreOptions } from '../document/index.ts';

/**
 * Locks as objects with conditional writes, in S3 and its like.
 *
 * @example
 * import { S3Client } from '@aws-sdk/client-s3';
 * import { objectStore, s3Objects } from 'holdfast/objects';
 *
 * const objects = s3Objects(new S3Client(), { bucket: 'plans', prefix: 'locks/' });
 * const store = objectStore(objects);
 *
 * @throws UsageError
 */
export function objectStore(objects: ObjectAccess, options: DocumentStoreOptions = {}): Store {
  return documentStore(objectDocuments(objects), options);
}
