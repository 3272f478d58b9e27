import { describe, test } from 'vitest';
import { ringOfProcesses, ringWithADeadProcess } from '../../methods/processes/deadlock-scenes.ts';
import { sharedServer } from './bed.ts';

const { server } = await sharedServer();

describe('processes that wait for each other, on PostgreSQL', () => {
  test('three: all are told, and one is rejected', () => ringOfProcesses(server.url, 3));

  test('one is killed: no deadlock', () => ringWithADeadProcess(server.url));
});
