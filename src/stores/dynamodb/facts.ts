/** What DynamoDB says of a table, and its clock by the `Date` of a reply. */
import { type AwsClient, sendTimed } from '../../clients/aws/send.ts';
import { clockOffset, reasonOf, type ServerFacts } from '../../clients/facts/server-facts.ts';
import { DATE_STEP_MS } from '../../clients/http/date.ts';
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
  const time = async (): Promise<number | undefined> => (await documents.get('doctor')).nowMs;
  const clock = await clockOffset(time, DATE_STEP_MS).catch(() => undefined);
  if (typeof described === 'string') {
    return { version: `DynamoDB, which does not describe the table ${table}: ${described}`, clock };
  }
  const tables = `the table ${table}, ${described.TableStatus}`;
  return {
    version: 'DynamoDB, which has no version',
    tables,
    clock,
    hazards: hazardsOf(described),
  };
}

async function describe(client: AwsClient, table: string): Promise<Described> {
  const { DescribeTableCommand } = await import('@aws-sdk/client-dynamodb');
  const command = new DescribeTableCommand({ TableName: table });
  const { output } = await sendTimed<{ readonly Table?: Described }>(client, command);
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
