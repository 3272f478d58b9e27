/**
 * Documents as items of a DynamoDB table: one item each, with the attributes `key`, `text` and
 * `version`.
 *
 * A version is a random id that each write brings along, so none comes twice, even after a removal.
 * Writes compare it, reads are strongly consistent. The client may send a write again on its own;
 * if the condition then fails, the first copy may have changed the item, so the outcome is reported
 * as unknown.
 * What would break it: a global table that is written in two regions, unless it has multi-Region
 * strong consistency.
 */
import { UsageError } from '../../base/errors.ts';
import { readOptions } from '../../base/options.ts';
import { randomId } from '../../base/random-id.ts';
import { type AwsClient, notInstalled, sendTimed } from '../../clients/aws/send.ts';
import {
  DATE_SLACK_MS,
  type Fate,
  failureOf,
  isRepeated,
  nameOf,
} from '../../clients/http/fate.ts';
import type { Documents } from '../document/documents.ts';

export interface DynamodbOptions {
  /** Its partition key is `key`, a string; it has no sort key. */
  readonly table: string;
}

/** By the name of the error; all come with status 400. */
const FATES: Readonly<Record<string, Fate>> = {
  LimitExceededException: 'later',
  ProvisionedThroughputExceededException: 'later',
  RequestLimitExceeded: 'later',
  ResourceNotFoundException: 'missing',
  ThrottlingException: 'later',
  TransactionConflictException: 'later',
};

const KEY = { '#key': 'key' };

export function dynamodbDocuments(client: AwsClient, options: DynamodbOptions): Documents {
  const { table } = readOptions(options, ['table'], 'dynamodbStore');
  if (typeof client?.send !== 'function') {
    throw new UsageError('dynamodbStore takes a DynamoDBClient.');
  }
  if (typeof table !== 'string' || table === '') throw new UsageError('table must be a name.');

  return {
    name: 'dynamodb',
    slackMs: DATE_SLACK_MS,
    async get(key) {
      const { GetItemCommand } = await sdk();
      const command = new GetItemCommand({
        TableName: table,
        Key: { key: { S: key } },
        ConsistentRead: true,
      });
      const { output, ...timed } = await sendTimed(client, command).catch(fail);
      const { text, version } = output.Item ?? {};
      if (text?.S === undefined || version?.S === undefined) return timed;
      return { text: text.S, version: version.S, ...timed };
    },
    async put(key, text, onto) {
      const { PutItemCommand } = await sdk();
      const version = randomId();
      const command = new PutItemCommand({
        TableName: table,
        Item: { key: { S: key }, text: { S: text }, version: { S: version } },
        ...conditionOf(onto),
      });
      try {
        const { output: _, ...timed } = await sendTimed(client, command);
        return { version, ...timed };
      } catch (error) {
        if (isRefused(error) && !isRepeated(error)) return 'other';
        return fail(error);
      }
    },
    async remove(key, version) {
      const { DeleteItemCommand } = await sdk();
      const command = new DeleteItemCommand({
        TableName: table,
        Key: { key: { S: key } },
        ...conditionOf(version),
      });
      await sendTimed(client, command).catch((error) => {
        if (!isRefused(error)) fail(error);
      });
    },
    async *list(prefix) {
      const { ScanCommand } = await sdk();
      let start: ScanKey;
      do {
        const command: InstanceType<typeof ScanCommand> = new ScanCommand({
          TableName: table,
          ConsistentRead: true,
          ProjectionExpression: '#key',
          ExpressionAttributeNames: KEY,
          ExclusiveStartKey: start,
          ...(prefix !== '' && {
            FilterExpression: 'begins_with(#key, :prefix)',
            ExpressionAttributeValues: { ':prefix': { S: prefix } },
          }),
        });
        const { output } = await sendTimed(client, command).catch(fail);
        for (const { key } of output.Items ?? []) if (key?.S !== undefined) yield key.S;
        start = output.LastEvaluatedKey;
      } while (start !== undefined);
    },
  };
}

type Sdk = Awaited<ReturnType<typeof sdk>>;

/** Where a page of a scan starts; undefined: at the beginning. */
type ScanKey = ConstructorParameters<Sdk['ScanCommand']>[0]['ExclusiveStartKey'];

function conditionOf(onto: string | undefined): object {
  if (onto === undefined) {
    return { ConditionExpression: 'attribute_not_exists(#key)', ExpressionAttributeNames: KEY };
  }
  return {
    ConditionExpression: '#version = :version',
    ExpressionAttributeNames: { '#version': 'version' },
    ExpressionAttributeValues: { ':version': { S: onto } },
  };
}

function isRefused(error: unknown): boolean {
  return nameOf(error) === 'ConditionalCheckFailedException';
}

function fail(error: unknown): never {
  throw failureOf('DynamoDB', error, FATES[nameOf(error)]);
}

function sdk() {
  return import('@aws-sdk/client-dynamodb').catch(notInstalled('@aws-sdk/client-dynamodb'));
}
