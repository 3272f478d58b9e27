/**
 * Several tries in one transaction: all of their rows are written, or none.
 *
 * Invariant: the rows that are written are as they were read. The transaction locks all of them
 * before it reads, and makes those that are missing, so that each has one to lock; until it ends,
 * no other session changes them. If one try would not hold, all is rolled back.
 * A row that another session has locked ends the transaction with nothing done; it is made again
 * for as long as a step waits for a locked row.
 * What would break it: a row that is read before it is locked.
 */
import { type Clock, sleep } from '../../base/clock.ts';
import { isBlocked } from '../../clients/sql/judge.ts';
import { toText } from '../../clients/sql/name-text.ts';
import { StoreError, temporaryFailure } from '../../contract/errors.ts';
import type { Claim, ClaimStatus } from '../../contract/store.ts';
import { look, refusals } from '../../queue/all-or-none.ts';
import {
  changeOf,
  type FoundRows,
  KEPT_BUSY,
  type LockWrite,
  lockedMs,
  type Rows,
} from './applying.ts';
import { type Crowd, crowdOf, type RowMoment } from './row.ts';

interface TogetherTerms {
  readonly rows: Pick<Rows, 'exchange'>;
  readonly clock: Clock;
  readonly trusts: boolean;
  /** The step of a claim that enters. */
  readonly enter: (claim: Claim, crowd: Crowd, moment: RowMoment) => ClaimStatus;
}

/** The mean pause before a locked row is asked for again, in ms. */
const PAUSE_MS = 10;

/** @throws StoreError */
export async function enterAll(
  claims: readonly Claim[],
  terms: TogetherTerms,
): Promise<readonly ClaimStatus[]> {
  const { clock } = terms;
  const ttlMs = Math.min(...claims.map((claim) => claim.ttlMs));
  const since = clock.now();
  for (;;) {
    const withinMs = since + ttlMs - clock.now();
    const statuses = await attempt(claims, terms, withinMs).catch(unlessBlocked);
    if (statuses) return statuses;
    if (clock.now() >= since + lockedMs(ttlMs)) throw temporaryFailure(KEPT_BUSY);
    await sleep(clock, PAUSE_MS * (0.5 + clock.random()));
  }
}

async function attempt(
  claims: readonly Claim[],
  { rows, trusts, enter }: TogetherTerms,
  withinMs: number,
): Promise<readonly ClaimStatus[]> {
  const named = claims.map((claim) => ({ claim, name: toText(claim.resource) }));
  let statuses: readonly ClaimStatus[] = [];
  let writes: readonly LockWrite[] = [];
  const make = ({ moment, rows: found }: FoundRows): readonly LockWrite[] => {
    const all = named.map(({ claim, name }) => {
      const row = found.find((each) => each.name === name);
      return { claim, name, crowd: crowdOf(row, moment), at: { row, moment } };
    });
    const looking = { now: moment.now / 1000, trusts };
    const refused = refusals(all.map(({ claim, crowd }) => look(claim, crowd.queue, looking)));
    statuses = refused ?? all.map(({ claim, crowd }) => enter(claim, crowd, moment));
    const entered = refused ? [] : all;
    writes = entered.flatMap(({ name, crowd, at }) => changeOf(name, crowd, at) ?? []);
    return writes;
  };
  const names = named.map(({ name }) => name);
  const written = await rows.exchange(names, make, { lane: 'claims', withinMs });
  if (written.length === writes.length) return statuses;
  const message = 'The database wrote some of the rows that it had locked, and not others.';
  throw new StoreError(message, { retryable: true, outcome: 'unknown' });
}

function unlessBlocked(error: unknown): undefined {
  if (!isBlocked(error)) throw error;
}
