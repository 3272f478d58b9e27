/**
 * Claims as names of nodes.
 *
 * A mutex has the name that Curator's `InterProcessMutex` gives its nodes, readers and writers have
 * those of `InterProcessReadWriteLock`, so that its programs stand in the same queues. Curator has
 * no weighted permits, so theirs are our own: `_c_<uuid>-permits-2-of-5-0000000007`. The name has
 * all that decides admission: listing a queue is enough to know it.
 * The uuid comes from the claim's id and has version 8, which is for custom formats; Curator's are
 * random ones of version 4. So the names show which claims are ours.
 */
import type { Standing } from '../../contract/admission.ts';
import { type Claim, type Kind, MAX_PERMITS } from '../../contract/store.ts';

/** A child of a queue that is a claim. */
export interface Place extends Standing {
  readonly name: string;
  /** Undefined for a foreign one without it. */
  readonly uuid: string | undefined;
  /** The number that the server added; it may have overflowed. */
  readonly sequence: number;
  readonly foreign: boolean;
}

const UUID = '[\\da-f]{8}-(?:[\\da-f]{4}-){3}[\\da-f]{12}';
const BASE = '(lock-|__READ__|__WRIT__)|permits-(\\d+)-of-(\\d+)-';
const NAME = new RegExp(`^(?:_c_(${UUID})-)?(?:${BASE})(-?\\d{9,10})$`);

const SHARED: Readonly<Record<string, Kind>> = {
  'lock-': 'mutex',
  __READ__: 'read',
  __WRIT__: 'write',
};

/** Undefined: it is no claim. */
export function placeIn(name: string): Place | undefined {
  const [found, uuid, shared, permits, limit, sequence] = NAME.exec(name) ?? [];
  if (found === undefined) return undefined;
  const foreign = uuid?.[14] !== '8';
  const own = { name, uuid, sequence: Number(sequence), foreign, admitted: false };
  if (shared === undefined) {
    return { ...own, kind: 'permits', permits: Number(permits), limit: Number(limit) };
  }
  const kind = SHARED[shared] as Kind;
  // A foreign lock is exclusive among permits too: Curator knows none.
  const most = kind === 'mutex' && !foreign ? 1 : MAX_PERMITS;
  return { ...own, kind, permits: kind === 'read' ? 1 : most, limit: most };
}

/** Its name between the uuid and the number. */
export function baseOf({
  kind,
  permits,
  limit,
}: Pick<Claim, 'kind' | 'permits' | 'limit'>): string {
  if (kind === 'mutex') return 'lock-';
  if (kind === 'read') return '__READ__';
  return kind === 'write' ? '__WRIT__' : `permits-${permits}-of-${limit}-`;
}

export function uuidOf({ id }: Pick<Claim, 'id'>): string {
  const hex = `${id.slice(0, 12)}8${id.slice(13, 16)}8${id.slice(17)}`;
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** The name of the reader that a writer becomes. */
export function asReader(name: string): string {
  return name.replace('__WRIT__', '__READ__');
}
