/** What locks promise on any store. */
import type { Topic } from '../../../../src/testkit/case.ts';
import { acquire } from './acquire.ts';
import { all } from './all.ts';
import { election } from './election.ts';
import { MUTEXES } from './lock-of.ts';
import { loss } from './loss.ts';
import { onceCases, refreshCases } from './once.ts';
import { outlook } from './outlook.ts';
import { rate } from './rate.ts';
import { rwLock } from './rw-lock.ts';
import { semaphore } from './semaphore.ts';
import { sharing } from './sharing.ts';

/** All locks with one holder at a time. */
const EXCLUSIVE = [acquire, loss, sharing];

export const LOCKS: readonly Topic[] = [
  ...MUTEXES.flatMap((lockOf) => EXCLUSIVE.map((topic) => topic(lockOf))),
  semaphore,
  rate,
  rwLock,
  all,
  election,
  onceCases,
  refreshCases,
  outlook,
];
