/** Hands its lease over, or takes one over, and stops or dies when the store has done it. */
import { createLocks, isLockError, type Lease } from 'holdfast';
import { openStore } from 'holdfast/connect';
import { aroundStore } from 'holdfast/testkit';
import { given, hear, type OnStore, tell } from './talk.ts';

export interface PasserOptions extends OnStore {
  /** What happens to it before it hears of the store's reply; default nothing. */
  readonly before?: NodeJS.Signals;
  /** What it takes over; default: it takes the mutex itself, and gives it. */
  readonly text?: string;
}

/** What became of it. */
export interface Passed {
  readonly type: 'passed';
  readonly token: bigint;
  readonly text: string | undefined;
  /** The code of the error, if there was one. */
  readonly error: string | undefined;
  readonly held: boolean;
}

const { store, ttl, before, text } = given<PasserOptions>();
const stopping = aroundStore(await openStore(store), async ({ verb }, next) => {
  const reply = await next();
  if (verb === 'handOver' && before) {
    await tell({ type: 'done' });
    process.kill(process.pid, before);
  }
  return reply;
});
const locks = createLocks(stopping, { ttl });
const lease = await (text === undefined ? locks.mutex('mutex').acquire() : locks.resume(text));
await tell(await passed(lease));
await hear();
await locks.close({ drain: 0 });
process.disconnect();

async function passed(own: Lease): Promise<Passed> {
  const { token } = own;
  let outcome: Pick<Passed, 'text' | 'error'> = { text: undefined, error: undefined };
  try {
    if (text === undefined) outcome = { text: await own.handOver(), error: undefined };
  } catch (error) {
    outcome = { text: undefined, error: isLockError(error) ? error.code : String(error) };
  }
  return { type: 'passed', token, ...outcome, held: own.held };
}
