import { describe, test } from 'vitest';
import { databaseFile } from './child.ts';
import { ringOfProcesses, ringWithADeadProcess } from './deadlock-scenes.ts';

describe('processes that wait for each other, on SQLite', () => {
  test.each([2, 3])('%i: all are told, and one is rejected', (count) =>
    ringOfProcesses(`sqlite:${databaseFile()}`, count),
  );

  test('one is killed: no deadlock', () => ringWithADeadProcess(`sqlite:${databaseFile()}`));
});
