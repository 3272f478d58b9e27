/** Does something once, and stops itself when its lease was looked at and before it is recorded. */
import { createLocks, isLockError } from 'holdfast';
import { openStore } from 'holdfast/connect';
import { once } from 'holdfast/once';
import { aroundStore } from 'holdfast/testkit';
import { given, type OnStore, tell } from './talk.ts';

/** What became of it. */
export interface Kept {
  readonly type: 'kept';
  /** What the store said, each time that it was asked. */
  readonly answers: readonly unknown[];
  /** The state, or the code of the error. */
  readonly end: string;
}

const { store, ttl } = given<OnStore>();
const answers: unknown[] = [];
const stopping = aroundStore(await openStore(store), async ({ verb }, next) => {
  if (verb !== 'keep') return next();
  await tell({ type: 'keeping' });
  process.kill(process.pid, 'SIGSTOP');
  const answer = await next();
  answers.push(answer);
  return answer;
});
const locks = createLocks(stopping, { ttl });
const result = once(locks, 'report', { keepFor: '1h', keepResult: true }, () => 'the first');
const end = await result.then(
  ({ state }) => state,
  (error: unknown) => (isLockError(error) ? error.code : String(error)),
);
await locks.close();
await tell({ type: 'kept', answers, end } satisfies Kept);
process.disconnect();
