import type { Clock } from '../../base/clock.ts';
import type { EtcdClient } from './client.ts';
import type { KeySpace } from './keys.ts';
import type { Leases } from './leases.ts';
import type { OwnClaims } from './own-claims.ts';

/** What the verbs work with. */
export interface Parts {
  readonly client: EtcdClient;
  readonly keys: KeySpace;
  readonly clock: Clock;
  readonly leases: Leases;
  readonly own: OwnClaims;
  readonly maxWaiters: number;
}
