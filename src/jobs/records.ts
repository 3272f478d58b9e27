/**
 * Records of jobs in the store, as JSON with a layout number.
 *
 * Invariant: a job that is reported as done is on record, written while its claim held. The last
 * record of a lease goes with its release, in one step, where the store can: one request, and one
 * commit, in place of two. The lease ends here before that is sent, so no heartbeat crosses it and
 * no waiter of this process is handed a claim that has left. Any reply but yes is a question: an
 * earlier copy of the request may have been carried out, and the claim is gone for a later one. So
 * the record itself is read, which names the token: no other attempt writes the same. Without a
 * reply the release is repeated in the background, with the record, until the TTL is over.
 * What would break it: to take a `no` for a loss, or another's record for one's own.
 */

import { sleep } from '../base/clock.ts';
import { show } from '../base/show.ts';
import { StoreError, toStoreError, UnsupportedError } from '../contract/errors.ts';
import type { Kept } from '../contract/records.ts';
import type { Claim, ClaimStatus, Store } from '../contract/store.ts';
import type { Engine } from '../core/engine.ts';
import { LeaseLostError, lossOf } from '../core/errors.ts';
import type { Lease } from '../core/lease.ts';
import type { Released } from '../store-calls/release.ts';
import { checkBoolean, checkKept, NO_REPLY } from '../store-calls/replies.ts';

const LAYOUT = 1;

/** Pause before a failed write is repeated, in ms. */
const RETRY_MS = 100;

interface Keeping {
  readonly note: object;
  readonly ms: number;
}

/**
 * Keeps a note about the lease's resource; false if the lease is not held.
 * @throws StoreError if it may not be there, UnsupportedError
 */
export async function keep(engine: Engine, lease: Lease, { note, ms }: Keeping): Promise<boolean> {
  const { keep: verb } = recordsOf(engine);
  const { claim } = lease.live;
  const record = { text: textOf(note), ms };
  return engine.services.calls.ask(() => verb(claim, record), checkBoolean, claim);
}

/**
 * Keeps a last note and releases the lease, or leaves that to the caller if the store cannot do
 * both in one step.
 * @throws LeaseLostError, StoreError if it may not be there, UnsupportedError
 */
export async function keepLast(engine: Engine, lease: Lease, keeping: Keeping): Promise<void> {
  const { calls } = engine.services;
  if (!calls.store.traits.keepsOnRelease) return keepSurely(engine, lease, keeping);
  lease.assertHeld();
  const { live } = lease;
  const { claim } = live;
  const text = textOf(keeping.note);
  live.claim = { ...claim, record: { text, ms: keeping.ms } };
  const outcome = (await lease.release()) as Released;
  if (outcome === true) return;
  try {
    await findKept(engine, claim, { text, outcome });
  } finally {
    // Without the note, which the store may refuse.
    void calls.releases.send(claim);
  }
}

/** Resolves when the text is on record, while its release is repeated in the background. */
async function findKept(
  engine: Engine,
  claim: Claim,
  { text, outcome }: { readonly text: string; readonly outcome: Exclude<Released, true> },
): Promise<void> {
  const { clock } = engine.services;
  const { resource, ttlMs } = claim;
  const until = clock.now() + ttlMs;
  for (let failure = outcome || NO_REPLY; ; await sleep(clock, RETRY_MS)) {
    try {
      const kept = await keptAbout(engine, resource);
      if (kept?.text === text) return;
      if (outcome === false) break;
    } catch (error) {
      failure = toStoreError(error);
    }
    if (!failure.retryable) throw failure;
    if (clock.now() >= until) throw new LeaseLostError(resource, 'expired', { cause: failure });
  }
  throw await lossFor(engine, claim);
}

/** Why the store says that the claim does not hold. */
async function lossFor({ services }: Engine, claim: Claim): Promise<LeaseLostError> {
  const status = await new Promise<ClaimStatus | undefined>((settle) =>
    services.calls.renew.send(claim, { settle }),
  );
  const { why, detail } = status?.state === 'gone' ? status : ({ why: 'unknown' } as const);
  return new LeaseLostError(claim.resource, lossOf(why), { detail });
}

/** Keeps a note, repeated until the store confirms it. */
async function keepSurely(engine: Engine, lease: Lease, keeping: Keeping): Promise<void> {
  let failure: unknown;
  for (;;) {
    if (failure !== undefined && !lease.held) throw failure;
    lease.assertHeld();
    try {
      if (await keep(engine, lease, keeping)) return;
      // The heartbeat finds out why.
      await lease.renew();
    } catch (error) {
      if (!toStoreError(error).retryable) throw error;
      failure = error;
    }
    await sleep(engine.services.clock, RETRY_MS, lease.signal);
  }
}

/**
 * The note about the resource, and how much longer it is kept.
 * @throws StoreError, UnsupportedError
 */
export async function recall<N extends object>(
  engine: Engine,
  resource: string,
): Promise<{ readonly note: N; readonly leftMs: number } | undefined> {
  const kept = await keptAbout(engine, resource);
  return kept && { note: noteIn<N>(kept.text, resource), leftMs: kept.leftMs };
}

function keptAbout(engine: Engine, resource: string): Promise<Kept | undefined> {
  const { recall: verb } = recordsOf(engine);
  return engine.services.calls.ask(() => verb(resource), checkKept);
}

function recordsOf({ services }: Engine): Required<Pick<Store, 'keep' | 'recall'>> {
  const { store } = services.calls;
  const { keep: keeps, recall: recalls } = store;
  if (keeps && recalls) return { keep: keeps.bind(store), recall: recalls.bind(store) };
  const message = `The ${store.name} store keeps no records of finished work.`;
  throw new UnsupportedError('records', message);
}

function textOf(note: object): string {
  return JSON.stringify({ layout: LAYOUT, ...note });
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
