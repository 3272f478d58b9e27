/**
 * Claims as names of nodes.
 *
 * A mutex has the name that Curator's `InterProcessMutex` gives its nodes, readers and writers have
 * those of `InterProcessReadWriteLock`, so that its programs stand in the same queues; Curator has
 * no weighted permits, so theirs are our own: `_c_<uuid>-permits-2-of-5-0000000007`. All that
 * decides who is admitted is in the name: to know a queue is to list it.
 * The uuid is made of the claim's id and is of version 8, which is for what is nobody's standard;
 * Curator's are random ones of version 4. So ours are known by their names.
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

/** Undefined: it is something else. */
export function placeIn(name: string): Place | undefined {
  const [found, uuid, shared, permits, limit, sequence] = NAME.exec(name) ?? [];
  if (found === undefined) return undefined;
  const foreign = uuid?.[14] !== '8';
  const own = { name, uuid, sequence: Number(sequence), foreign, admitted: false };
  if (shared === undefined) {
    return { ...own, kind: 'permits', permits: Number(permits), limit: Number(limit) };
  }
  const kind = SHARED[shared] as Kind;
  // A stranger's lock is alone also among permits, which it does not know.
  const most = kind === 'mutex' && !foreign ? 1 : MAX_PERMITS;
  return { ...own, kind, permits: kind === 'read' ? 1 : most, limit: most };
}

/** What its name has between the uuid and the number. */
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

/** The same node, as the reader that a writer becomes. */
export function asReader(name: string): string {
  return name.replace('__WRIT__', '__READ__');
}
