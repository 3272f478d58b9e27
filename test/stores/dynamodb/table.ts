/** A table of DynamoDB as the page of the store makes it. */
import { CreateTableCommand, DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { DynamodbServer, type DynamodbServerOptions } from '../../servers/dynamodb-server.ts';

export function client(port: number, maxAttempts = 3): DynamoDBClient {
  return new DynamoDBClient({
    ...{ endpoint: `http://127.0.0.1:${port}`, region: 'us-east-1', maxAttempts },
    credentials: { accessKeyId: 'test', secretAccessKey: 'test' },
  });
}

export async function startTable(options?: DynamodbServerOptions): Promise<DynamodbServer> {
  const server = await DynamodbServer.start(options);
  const command = new CreateTableCommand({
    ...{ TableName: 'locks', BillingMode: 'PAY_PER_REQUEST' },
    AttributeDefinitions: [{ AttributeName: 'key', AttributeType: 'S' }],
    KeySchema: [{ AttributeName: 'key', KeyType: 'HASH' }],
  });
  await client(server.port).send(command);
  return server;
}
