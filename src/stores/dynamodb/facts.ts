/** What DynamoDB says of a table, and its clock by the `Date` of a reply. */
import { type AwsClient, sendTimed } from '../../clients/aws/send.ts';
import { clockByDate, reasonOf, type ServerFacts } from '../../clients/facts/server-facts.ts';
import { dynamodbDocuments } from './documents.ts';

/** The part of what describes a table that is used. */
export interface Described {
  readonly TableStatus?: string | undefined;
  readonly Replicas?: readonly { readonly RegionName?: string | undefined }[] | undefined;
  readonly MultiRegionConsistency?: string | undefined;
}

export async function dynamodbFacts(client: AwsClient, table: string): Promise<ServerFacts> {
  const described = await describe(client, table).catch(reasonOf);
  const documents = dynamodbDocuments(client, { table });
  const clock = await clockByDate(() => documents.get('doctor')).catch(() => undefined);
  if (typeof described === 'string') {
    return { version: `DynamoDB, which does not describe the table ${table}: ${described}`, clock };
  }
  const tables = `the table ${table}, ${described.TableStatus}`;
  const hazards = hazardsOf(described);
  return { version: 'DynamoDB, which has no version', tables, clock, hazards };
}

async function describe(client: AwsClient, table: string): Promise<Described> {
  const { DescribeTableCommand } = await import('@aws-sdk/client-dynamodb');
  const command = new DescribeTableCommand({ TableName: table });
  const { output } = await sendTimed(client, command);
  return output.Table ?? {};
}

export function hazardsOf({ Replicas = [], MultiRegionConsistency }: Described): string[] {
  if (Replicas.length === 0 || MultiRegionConsistency === 'STRONG') return [];
  const regions = Replicas.map(({ RegionName }) => RegionName).join(', ');
  return [
    `the table is also in ${regions}, without multi-Region strong consistency: each Region grants` +
      ' the same lock; let the programs of one Region alone use it',
  ];
}
