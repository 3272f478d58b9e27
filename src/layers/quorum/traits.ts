import type { Store, Traits } from '../../contract/store.ts';

/** The traits of a quorum of these stores. A try may fail: two may each get a few votes. */
export function traitsOf(members: readonly Store[]): Traits {
  const all = members.map(({ traits }) => traits);
  const any = <K extends keyof Traits>(name: K, value: Traits[K]): boolean =>
    all.some((traits) => traits[name] === value);
  const raised = members.every(({ raise, traits }) => raise && traits.tokens !== undefined);
  return {
    // The order is that at the waiting place, as long as that stays the same.
    queue: all.every(({ queue }) => queue),
    tokens: raised ? 'majority' : undefined,
    liveness: any('liveness', 'session') ? 'session' : 'ttl',
    clock: any('clock', 'server') ? 'server' : any('clock', 'machine') ? 'machine' : 'process',
    failover: 'best-effort',
    reach: any('reach', 'process') ? 'process' : any('reach', 'machine') ? 'machine' : 'network',
    ttlStepMs: Math.max(...all.map(({ ttlStepMs = 1 }) => ttlStepMs)),
  };
}
