/**
 * A document as a `Lease` object: its text and its key are annotations, and `spec.holderIdentity`
 * shows people the holder. A version is the object's resourceVersion with its uid: the API server
 * takes an update of a missing lease as its creation, whatever version it names, unless it names
 * the uid as well.
 */
import { createHash } from 'node:crypto';
import { checkLength } from '../document/documents.ts';

/** As much of the object as is used. */
export interface LeaseObject {
  readonly metadata: {
    readonly name?: string;
    readonly resourceVersion?: string;
    readonly uid?: string;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec?: LeaseSpec;
}

export interface LeaseSpec {
  readonly holderIdentity?: string | undefined;
  readonly leaseDurationSeconds?: number;
  /** With microseconds, as the API server wants it. */
  readonly acquireTime?: string;
  readonly renewTime?: string;
  readonly leaseTransitions?: number;
}

/** How many bytes annotations and text may have in all. */
const MAX_BYTES = 256 * 1024;
/** Longest part of a name that people can read; the rest tells it from others. */
const MAX_SLUG = 60;

const NAME = 'holdfast/name';
const TEXT = 'holdfast/document';
export const LABEL = 'app.kubernetes.io/managed-by=holdfast';

/** A name of Kubernetes for any text: what it can say of it, and 128 bits of a hash. */
export function leaseName(key: string, algorithm: 'sha256' | 'sha512' = 'sha256'): string {
  const slug = key
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, MAX_SLUG)
    .replace(/^-|-$/g, '');
  const hash = createHash(algorithm).update(key).digest('hex').slice(0, 32);
  return slug === '' ? `holdfast-${hash}` : `${slug}-${hash}`;
}

export function textIn({ metadata }: LeaseObject): string | undefined {
  return metadata.annotations?.[TEXT];
}

/** The key; undefined for a lease that is none of ours. */
export function keyIn({ metadata }: LeaseObject): string | undefined {
  return metadata.annotations?.[NAME];
}

export function versionIn({ metadata }: LeaseObject): string {
  return `${metadata.resourceVersion}.${metadata.uid}`;
}

export function leaseOf(
  { key, text, holder }: { key: string; text: string; holder: string | undefined },
  onto: string | undefined,
): string {
  const annotations = { [NAME]: key, [TEXT]: text };
  checkLength(Object.entries(annotations).flat().join(''), MAX_BYTES, 'The annotations of a Lease');
  const [label = '', value] = LABEL.split('=');
  return JSON.stringify({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: leaseName(key), annotations, labels: { [label]: value }, ...part(onto) },
    spec: { holderIdentity: holder },
  });
}

export function conditionOf(version: string): string {
  return JSON.stringify({ kind: 'DeleteOptions', apiVersion: 'v1', preconditions: part(version) });
}

function part(version: string | undefined): object {
  if (version === undefined) return {};
  const [resourceVersion, uid] = version.split('.');
  return { resourceVersion, uid };
}
