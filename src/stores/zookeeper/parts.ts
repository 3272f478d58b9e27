import type { Clock } from '../../base/clock.ts';
import type { Graves } from './graves.ts';
import type { OwnClaims } from './own-claims.ts';
import type { Sessions } from './sessions.ts';
import type { Tree } from './tree.ts';

/** What the verbs work with. */
export interface Parts {
  readonly tree: Tree;
  readonly clock: Clock;
  readonly sessions: Sessions;
  readonly own: OwnClaims;
  readonly graves: Graves;
  readonly maxWaiters: number;
}
