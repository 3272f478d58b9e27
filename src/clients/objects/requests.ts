/**
 * Requests for objects whose replies may be lost: a write is sent again unchanged, on the same
 * condition, so that it is carried out at most once. A late copy is refused.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { isLockError } from '../../base/errors.ts';
import { show } from '../../base/show.ts';
import { StoreError, UnsupportedError } from '../../contract/errors.ts';
import { describe } from '../causes.ts';
import { type Fate, fateOf } from '../http/fate.ts';
import type { ObjectAccess, StoredObject } from './access.ts';

/** Pauses between tries, in ms: together long enough for a server to restart. */
const PAUSES_MS = [50, 100, 200, 400, 800];

export interface ObjectPut {
  readonly key: string;
  readonly text: string;
  /** The ETag that the object must have; undefined: no object may exist. */
  readonly onto: string | undefined;
  /** Whether this write made the object found. */
  isOwn(found: StoredObject): boolean;
}

/** The write was carried out; or another object is there, or none. */
export type Placed = { readonly etag: string } | { readonly found: StoredObject | undefined };

/** @throws StoreError, UnsupportedError */
export async function putAt(objects: ObjectAccess, put: ObjectPut): Promise<Placed> {
  const { key, text, onto, isOwn } = put;
  const condition = onto === undefined ? ({ ifNoneMatch: '*' } as const) : { ifMatch: onto };
  let inDoubt = false;
  for (let failures = 0; ; failures++) {
    let trouble: unknown = new Error('nothing was written');
    try {
      const etag = await objects.put({ key, text, ...condition });
      if (etag !== undefined) return { etag: checkEtag(etag, onto) };
    } catch (error) {
      if (isLockError(error, 'USAGE') || isLockError(error, 'UNSUPPORTED')) throw error;
      const fate = fateOf(error);
      inDoubt ||= fate === 'unknown';
      if (fate === 'unsupported' && !inDoubt) {
        const message = `The service does not support conditional writes (${describe(error)}).`;
        throw new UnsupportedError('conditional writes', message);
      }
      const hopeless = isFinal(fate) || (fate === 'missing' && onto === undefined);
      trouble = error;
      if (hopeless || fate === 'later' || fate === 'unknown') {
        await pause(failures, trouble, { inDoubt, hopeless });
        continue;
      }
    }
    // Either it was carried out without an ETag in the reply, or it was refused, perhaps as the
    // copy of a write that was carried out: clients and proxies repeat requests on their own.
    inDoubt = true;
    const found = await lookAt(objects, key, inDoubt);
    if (found && isOwn(found)) return { etag: checkEtag(found.etag, onto) };
    if (found?.etag !== onto) return { found };
    // The condition holds, and yet the write was refused: the read lags behind.
    await pause(failures, trouble, { inDoubt });
  }
}

export async function lookAt(
  objects: ObjectAccess,
  key: string,
  inDoubt = false,
): Promise<StoredObject | undefined> {
  for (let failures = 0; ; failures++) {
    try {
      const found = await objects.get(key);
      if (found) checkEtag(found.etag);
      return found;
    } catch (error) {
      if (isLockError(error, 'USAGE') || isLockError(error, 'UNSUPPORTED')) throw error;
      const fate = fateOf(error);
      if (fate === 'missing') return undefined;
      await pause(failures, error, { inDoubt, hopeless: isFinal(fate) });
    }
  }
}

/** @throws StoreError after too many, or if no further try can help. */
async function pause(
  failures: number,
  error: unknown,
  { inDoubt, hopeless = false }: { readonly inDoubt: boolean; readonly hopeless?: boolean },
): Promise<void> {
  const ms = PAUSES_MS[failures];
  if (ms !== undefined && !hopeless) return sleep(ms);
  throw new StoreError(`The object service failed (${describe(error)}).`, {
    cause: error,
    retryable: !hopeless,
    outcome: inDoubt ? 'unknown' : 'failed',
  });
}

function isFinal(fate: Fate): boolean {
  return fate === 'never' || fate === 'unsupported';
}

function checkEtag(etag: unknown, before?: string): string {
  if (typeof etag !== 'string' || etag === '' || etag.startsWith('W/')) {
    throw new UnsupportedError('ETag', `A condition needs a strong ETag, not ${show(etag)}.`);
  }
  if (etag !== before) return etag;
  const message = `The ETag ${show(etag)} stayed the same when the object was written.`;
  throw new UnsupportedError('ETag', `${message} The ETag must cover the fence.`);
}
