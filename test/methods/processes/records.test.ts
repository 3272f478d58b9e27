import { test } from 'vitest';
import { databaseFile } from './child.ts';
import { stallBeforeTheRecord } from './stalled-keeper.ts';

test('SIGSTOP between the work and its record, on SQLite', () =>
  stallBeforeTheRecord(`sqlite:${databaseFile()}`));
