/**
 * A lock as the `spec` of a `Lease`: the record of client-go's leader election, and no field more.
 *
 * client-go compares records as JSON in which times have whole seconds. So a renewal is dated at
 * least a second after the one before: client-go would take two within a second for one, and count
 * the life of the second from the first. It relies on no time in a record.
 */
import { createHash } from 'node:crypto';
import type { Claim, Holder } from '../../contract/store.ts';
import { type LeaseObject, type LeaseSpec, leaseName } from './lease.ts';

/** What API servers accept as the name of a lease. */
const NAME = /^(?=.{1,253}$)[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** The lock's own name if it can be a lease's; never that of a lease of `kubernetesStore`. */
export function lockName(resource: string): string {
  return NAME.test(resource) ? resource : leaseName(resource, 'sha512');
}

/** The identity of one claim alone, whose id stays secret. */
export function identityOf({ id, holder }: Claim): string {
  const { label, host, pid } = holder;
  const hash = createHash('sha256').update(id).digest('hex').slice(0, 32);
  return `${label === undefined ? '' : `${label} `}(${host}:${pid}) ${hash}`;
}

const IDENTITY = /^(?:(.*) )?\((.*):(\d+)\) [0-9a-f]{32}/s;

/** As people see it; other programs write what they like. */
export function holderIn({ holderIdentity = '', acquireTime = '' }: LeaseSpec): Holder {
  const [, label, host = holderIdentity, pid = 0] = IDENTITY.exec(holderIdentity) ?? [];
  const since = Date.parse(acquireTime) || 0;
  return { host, pid: Number(pid), since, ...(label !== undefined && { label }) };
}

/** The record of a new holder; as in client-go, the first makes no transition. */
export function taken(
  { identity, ttlMs }: { readonly identity: string; readonly ttlMs: number },
  before: LeaseObject | undefined,
  now: number,
): LeaseSpec {
  return {
    holderIdentity: identity,
    leaseDurationSeconds: secondsOf(ttlMs),
    acquireTime: timeOf(now),
    renewTime: timeOf(now),
    leaseTransitions: before ? transitionsOf(before) + 1 : 0,
  };
}

export function renewed(spec: LeaseSpec, ttlMs: number, now: number): LeaseSpec {
  const least = Date.parse(spec.renewTime ?? '') + 1000 || 0;
  const renewTime = timeOf(Math.max(now, least));
  return { ...spec, leaseDurationSeconds: secondsOf(ttlMs), renewTime };
}

/** As client-go leaves it for the next one. */
export function freed(before: LeaseObject | undefined, now: number): LeaseSpec {
  const empty = taken({ identity: '', ttlMs: 1000 }, before, now);
  return { ...empty, leaseTransitions: transitionsOf(before) };
}

/** For this long, with a holder that is not a claim. */
export function kept(spec: LeaseSpec, ms: number, now: number): LeaseSpec {
  return renewed({ ...spec, holderIdentity: `${spec.holderIdentity} released` }, ms, now);
}

export function transitionsOf(lease: LeaseObject | undefined): number {
  return lease?.spec?.leaseTransitions ?? 0;
}

function secondsOf(ms: number): number {
  return Math.ceil(ms / 1000);
}

function timeOf(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '000Z');
}
