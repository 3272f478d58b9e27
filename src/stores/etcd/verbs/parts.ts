import type { Leases } from '../leases.ts';
import type { EtcdClaims, OwnParts } from '../own-claims.ts';

/** What the verbs work with. */
export interface EtcdParts extends OwnParts {
  readonly leases: Leases;
  readonly own: EtcdClaims;
  readonly maxWaiters: number;
}
