/** Does something with one mutex, and then has nothing else to do. */
import { createLocks } from 'holdfast';
import { type OpenTerms, opened } from '../opened.ts';
import { given, tell } from './talk.ts';

export interface FinisherOptions extends OpenTerms {
  readonly name: string;
  /** What it leaves out: to close the locks, or to release the lease as well. */
  readonly leaves: 'nothing' | 'locks' | 'lease';
}

const { name, leaves, ...terms } = given<FinisherOptions>();
const { store, end } = await opened(terms);
const locks = createLocks(store);
await tell({ type: 'asks' });
const lease = await locks.mutex(name).acquire();
await tell({ type: 'granted' });
if (leaves !== 'lease') await lease.release();
if (leaves === 'nothing') await locks.close();
await end?.();
await tell({ type: 'done' });
