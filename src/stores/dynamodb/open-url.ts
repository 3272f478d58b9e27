/** The store that a URL of DynamoDB names: `dynamodb://table?region=eu-west-1`. */
import { UsageError } from '../../base/errors.ts';
import { type AwsClient, notInstalled, sendTimed } from '../../clients/aws/send.ts';
import { clockByDate, reasonOf, type ServerFacts } from '../../clients/facts/server-facts.ts';
import type { Store } from '../../contract/store.ts';
import type { DocumentStoreOptions } from '../document/index.ts';
import { awsSettings, closingAlso, splitQuery } from '../url-options.ts';
import { dynamodbDocuments } from './documents.ts';
import { dynamodbStore } from './index.ts';

/** @throws UsageError, and UnsupportedError if the SDK is not installed. */
export async function openUrl(_scheme: string, rest: string): Promise<Store> {
  const { client, table, options } = await open(rest);
  return closingAlso(dynamodbStore(client, { ...options, table }), { end: () => client.destroy() });
}

export async function facts(_scheme: string, rest: string): Promise<ServerFacts> {
  const { client, table } = await open(rest);
  return dynamodbFacts(client, table).finally(() => client.destroy());
}

async function open(rest: string) {
  const [, table, query = ''] = /^\/\/([^/?#@]+)\/?(?:\?([^#]*))?$/.exec(rest) ?? [];
  if (table === undefined) {
    throw new UsageError("'dynamodb:' needs a table, as in 'dynamodb://locks?region=eu-west-1'.");
  }
  const { options, url } = splitQuery<DocumentStoreOptions>({ query }, ['maxWaiters']);
  const client = new (await sdk()).DynamoDBClient(awsSettings(url));
  return { client, table, options };
}

function sdk() {
  return import('@aws-sdk/client-dynamodb').catch(notInstalled('@aws-sdk/client-dynamodb'));
}

interface Described {
  readonly Replicas?: readonly { readonly RegionName?: string | undefined }[] | undefined;
  readonly MultiRegionConsistency?: string | undefined;
}

export async function dynamodbFacts(client: AwsClient, table: string): Promise<ServerFacts> {
  const { DescribeTableCommand } = await sdk();
  const command = new DescribeTableCommand({ TableName: table });
  const described = await sendTimed(client, command).catch(reasonOf);
  const documents = dynamodbDocuments(client, { table });
  const clock = await clockByDate(() => documents.get('doctor')).catch(() => undefined);
  if (typeof described === 'string') {
    return { version: `DynamoDB, which does not describe the table ${table}: ${described}`, clock };
  }
  const { Table = {} } = described.output;
  const tables = `the table ${table}, ${Table.TableStatus}`;
  const hazards = hazardsOf(Table);
  return { version: 'DynamoDB, which has no version', tables, clock, hazards };
}

export function hazardsOf({ Replicas = [], MultiRegionConsistency }: Described): string[] {
  if (Replicas.length === 0 || MultiRegionConsistency === 'STRONG') return [];
  const regions = Replicas.map(({ RegionName }) => RegionName).join(', ');
  return [
    `the table is also in ${regions}, without multi-Region strong consistency: each Region grants` +
      ' the same lock; let the programs of one Region alone use it',
  ];
}
