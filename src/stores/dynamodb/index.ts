import type { AwsClient } from '../../clients/aws/send.ts';
import type { Store } from '../../contract/store.ts';
import { apart, type DocumentStoreOptions, documentStore } from '../document/document-store.ts';
import { type DynamodbOptions, dynamodbDocuments } from './documents.ts';

export type { AwsClient } from '../../clients/aws/send.ts';

export interface DynamodbStoreOptions extends DynamodbOptions, DocumentStoreOptions {}

/**
 * Locks as items of a DynamoDB table, whose partition key is `key`, a string.
 *
 * @example
 * import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
 * import { dynamodbStore } from 'holdfast/dynamodb';
 *
 * const store = dynamodbStore(new DynamoDBClient(), { table: 'locks' });
 *
 * @throws UsageError
 */
export function dynamodbStore(client: AwsClient, options: DynamodbStoreOptions): Store {
  const [common, own] = apart(options);
  return documentStore(dynamodbDocuments(client, own), common);
}
