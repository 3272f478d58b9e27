/** Where the small examples keep their locks: the store that `--store URL` names, else SQLite. */
import type { Store } from 'holdfast';
import { openStore } from 'holdfast/connect';
import { openStage } from './stage.ts';

export const store: Store = await openStore(openStage().store);
