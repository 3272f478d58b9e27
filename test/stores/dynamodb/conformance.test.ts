import { dynamodbStore } from 'holdfast/dynamodb';
import { missingDynamodb } from '../../servers/dynamodb-server.ts';
import { documentConformance } from '../document/conformance.ts';
import { client, startTable } from './table.ts';

documentConformance({
  why: await missingDynamodb(),
  start: startTable,
  store: ({ port }, options) => dynamodbStore(client(port), { table: 'locks', ...options }),
  // Those of the clock, and the second that it counts in.
  slackMs: 3000,
  traits: dynamodbStore(client(1), { table: 'unused' }).traits,
});
