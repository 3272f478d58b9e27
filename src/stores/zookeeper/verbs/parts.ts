import type { Clock } from '../../../base/clock.ts';
import type { Tree } from '../layout.ts';
import type { ZookeeperClaims } from '../own-claims.ts';
import type { Sessions } from '../sessions.ts';
import type { Tombstones } from './tombstones.ts';

/** What the verbs work with. */
export interface ZookeeperParts {
  readonly tree: Tree;
  readonly clock: Clock;
  readonly sessions: Sessions;
  readonly own: ZookeeperClaims;
  readonly tombstones: Tombstones;
  readonly maxWaiters: number;
}
