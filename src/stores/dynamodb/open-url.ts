/** The store that a URL of DynamoDB names: `dynamodb://table?region=eu-west-1`. */
import { UsageError } from '../../base/errors.ts';
import { awsSettings } from '../../clients/aws/from-query.ts';
import type { ServerFacts } from '../../clients/facts/server-facts.ts';
import type { Store } from '../../contract/store.ts';
import type { DocumentStoreOptions } from '../document/index.ts';
import { closingAlso, splitQuery } from '../url-options.ts';
import { dynamodbClient } from './documents.ts';
import { dynamodbFacts } from './facts.ts';
import { dynamodbStore } from './index.ts';

const OPTIONS = ['maxWaiters'];

/** @throws UsageError, and UnsupportedError if the SDK is not installed. */
export async function openUrl(_scheme: string, rest: string): Promise<Store> {
  const { client, table, options } = await open(rest);
  return closingAlso(dynamodbStore(client, { ...options, table }), { end: () => client.destroy() });
}

/** The service tells no version. */
export async function facts(_scheme: string, rest: string): Promise<ServerFacts> {
  const { client, table } = await open(rest);
  try {
    return await dynamodbFacts(client, table);
  } finally {
    client.destroy();
  }
}

async function open(rest: string) {
  const [, table, query = ''] = /^\/\/([^/?#@]+)\/?(?:\?([^#]*))?$/.exec(rest) ?? [];
  if (table === undefined) {
    throw new UsageError("'dynamodb:' needs a table, as in 'dynamodb://locks?region=eu-west-1'.");
  }
  const { options, url } = splitQuery<DocumentStoreOptions>({ query }, OPTIONS);
  const client = await dynamodbClient(awsSettings(url));
  return { client, table, options };
}
