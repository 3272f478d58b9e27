/** Jobs by key: the mutex of a key, and its record in the store, as JSON with a layout number. */
import { sleep } from '../base/clock.ts';
import { checkName, MAX_NAME_BYTES } from '../base/names.ts';
import { show } from '../base/show.ts';
import { StoreError, toStoreError, UnsupportedError } from '../contract/errors.ts';
import type { Store } from '../contract/store.ts';
import type { Engine } from '../core/engine.ts';
import type { Lease } from '../core/lease.ts';
import { engineOf, type Locks } from '../locks.ts';
import type { Lock } from '../primitives/lock.ts';
import type { LockOptions } from '../primitives/lock-options.ts';
import { checkBoolean, checkKept } from '../store-calls/replies.ts';

/** Longest key in bytes of UTF-8: a name, less the job's prefix. */
const MAX_KEY_BYTES = MAX_NAME_BYTES - 'refresh:'.length;

/** @throws UsageError */
export function checkKey(key: string): string {
  return checkName(key, 'key', MAX_KEY_BYTES);
}

/** The mutex of a key. @throws UsageError, also unless these are locks. */
export function keyLock(locks: Locks, name: string, options: LockOptions): Lock {
  engineOf(locks);
  return locks.mutex(name, options);
}

const LAYOUT = 1;

/** Pause before a failed write is repeated, in ms. */
const RETRY_MS = 100;

interface KeptNote {
  readonly note: object;
  readonly ms: number;
}

/**
 * Keeps a note about the lease's resource; false if the lease is not held.
 * @throws StoreError if it may not be there, UnsupportedError
 */
export async function keep({ live }: Lease, { note, ms }: KeptNote): Promise<boolean> {
  const { claim, services } = live;
  const records = recordsOf(services.calls.store);
  const text = JSON.stringify({ layout: LAYOUT, ...note });
  return services.calls.ask(() => records.keep(claim, { text, ms }), checkBoolean, claim);
}

/**
 * The same, repeated until the store confirms the note.
 * @throws LeaseLostError, StoreError if it may not be there, UnsupportedError
 */
export async function keepSurely(lease: Lease, keeping: KeptNote): Promise<void> {
  let failure: unknown;
  for (;;) {
    if (failure !== undefined && !lease.held) throw failure;
    lease.assertHeld();
    try {
      if (await keep(lease, keeping)) return;
      // The heartbeat finds out why.
      await lease.renew();
    } catch (error) {
      if (!toStoreError(error).retryable) throw error;
      failure = error;
    }
    await sleep(lease.live.services.clock, RETRY_MS, lease.signal);
  }
}

/** The note about the resource, and its time left. @throws StoreError, UnsupportedError */
export async function recall<N extends object>(
  { services: { calls } }: Engine,
  resource: string,
): Promise<{ readonly note: N; readonly leftMs: number } | undefined> {
  const records = recordsOf(calls.store);
  const kept = await calls.ask(() => records.recall(resource), checkKept);
  return kept && { note: noteIn<N>(kept.text, resource), leftMs: kept.leftMs };
}

function recordsOf(store: Store): Required<Pick<Store, 'keep' | 'recall'>> {
  if (store.keep && store.recall) return store as Required<Pick<Store, 'keep' | 'recall'>>;
  const message = `The ${store.name} store keeps no records of finished work.`;
  throw new UnsupportedError('records', message);
}

function noteIn<N extends object>(text: string, resource: string): N {
  let layout: unknown;
  try {
    const { layout: found, ...note } = JSON.parse(text) as N & { readonly layout: unknown };
    if (found === LAYOUT) return note as unknown as N;
    layout = found;
  } catch {
    // The error below reports it.
  }
  const what =
    layout === undefined
      ? 'something else has written it'
      : `its layout is ${show(layout)}, not ${LAYOUT}`;
  const message = `The record of ${show(resource)} cannot be read: ${what}.`;
  throw new StoreError(message, { resource, retryable: false, outcome: 'failed' });
}
