/** Several locks of one file, in one step. */
import { createLocks } from 'holdfast';
import { sqliteStore } from 'holdfast/sqlite';
import { test } from 'vitest';
import { bookTogether } from '../faults/several-locks.ts';
import { databaseFile } from './child.ts';

test('no two hold the same, and who is killed or stopped lets all of its locks go', async () => {
  const file = databaseFile();
  await using locks = createLocks(sqliteStore(file));
  await bookTogether(`sqlite:${file}`, locks);
});
