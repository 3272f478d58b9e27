/** Documents in DynamoDB, on Amazon's own server for tests. */
import { expect, test } from 'vitest';
import { dynamodbDocuments } from '../../../src/stores/dynamodb/documents.ts';
import { examined } from '../../cli/examined.ts';
import { missingDynamodb } from '../../servers/dynamodb-server.ts';
import { absenceIsTold, cutting, documentsTests, sharedServer } from '../document/service.ts';
import { client, startTable } from './table.ts';

const server = sharedServer(await missingDynamodb(), () => startTable());
const documents = (port = server().port) => dynamodbDocuments(client(port), { table: 'locks' });

documentsTests({
  create: () => documents(),
  has: ['remove', 'list', 'nowMs'],
  losing: cutting(() => server().port, documents),
});

absenceIsTold(
  () => server().port,
  (port) => dynamodbDocuments(client(port, 1), { table: 'locks' }),
);

test('a table that is not there is told as what it is', async () => {
  const nowhere = dynamodbDocuments(client(server().port), { table: 'nowhere' });
  const failed = { code: 'STORE', retryable: false, outcome: 'failed' };
  await expect(nowhere.get('a')).rejects.toMatchObject(failed);
  await expect(nowhere.put('a', '1', undefined)).rejects.toMatchObject(failed);
});

test('text that is too long for an item is refused', async () => {
  const failed = { code: 'STORE', retryable: false, outcome: 'failed' };
  const long = documents().put('long', 'x'.repeat(401 * 1024), undefined);
  await expect(long).rejects.toMatchObject(failed);
});

test('the doctor asks the service for its table and its clock', async () => {
  const env = { AWS_ACCESS_KEY_ID: 'test', AWS_SECRET_ACCESS_KEY: 'test' };
  const at = `endpoint=http://127.0.0.1:${server().port}&region=us-east-1`;
  const found = await examined(`dynamodb://locks?${at}`, env);
  expect(found.server?.says).toBe('DynamoDB, which has no version');
  expect(found.tables?.says).toBe('up to date, the table locks, ACTIVE');
});
