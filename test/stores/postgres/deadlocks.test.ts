import { migratePostgres } from 'holdfast/postgres';
import { afterAll, beforeAll, describe, test } from 'vitest';
import { ringOfProcesses, ringWithADeadProcess } from '../../methods/processes/deadlock-scenes.ts';
import { startPostgres } from '../../servers/postgres-server.ts';
import { clientOf } from './bed.ts';

const server = await startPostgres();
beforeAll(() => migratePostgres(clientOf('pg', server.url)));
afterAll(() => server.close());

describe('processes that wait for each other, on PostgreSQL', () => {
  test('three: all are told, and one is rejected', () => ringOfProcesses(server.url, 3));

  test('one is killed: no deadlock', () => ringWithADeadProcess(server.url));
});
