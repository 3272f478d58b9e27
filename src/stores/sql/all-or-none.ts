/**
 * Several tries in one transaction: all of their rows are written, or none.
 *
 * Invariant: the rows that are written are as they were read, because the transaction locks all of
 * them before it reads. A row that is missing cannot be locked, so it is first made, empty, in a
 * write of its own. If one try does not hold, none of the rows is written.
 * A row that another session has locked ends the transaction with nothing done; it is made again
 * for as long as a step waits for a locked row.
 * What would break it: a row that is read before it is locked.
 */
import { type Clock, sleep } from '../../base/clock.ts';
import { isBlocked } from '../../clients/sql/judge.ts';
import { toText } from '../../clients/sql/name-text.ts';
import { StoreError, temporaryFailure } from '../../contract/errors.ts';
import { refusals } from '../../contract/gone.ts';
import type { Claim, ClaimStatus } from '../../contract/store.ts';
import * as applying from './applying.ts';
import { columnsOf, crowdOf } from './row.ts';

interface TogetherTerms {
  readonly rows: Pick<applying.Rows, 'exchange' | 'write'>;
  readonly clock: Clock;
  readonly enter: applying.ClaimStep<ClaimStatus>;
}

type Writes = readonly applying.LockWrite[];

/** The mean pause before a locked row is asked for again, in ms. */
const PAUSE_MS = 10;
const HALF = 'The database wrote some of the rows that it had locked, and not others.';

export async function enterAll(
  claims: readonly Claim[],
  { rows, clock, enter }: TogetherTerms,
): Promise<readonly ClaimStatus[]> {
  const ttlMs = Math.min(...claims.map((claim) => claim.ttlMs));
  const since = clock.now();
  const named = claims.map((claim) => ({ claim, name: toText(claim.resource) }));
  const names = named.map(({ name }) => name);
  let statuses: readonly ClaimStatus[] = [];
  let writes: Writes = [];
  let missing: Writes = [];
  const make = ({ moment, rows: found }: applying.FoundRows): Writes => {
    const tried = named.map(({ claim, name }) => {
      const row = found.find((each) => each.name === name);
      const crowd = crowdOf(row, moment);
      const status = enter(claim, crowd, moment);
      return { row, status, write: applying.changeOf(name, crowd, { row, moment }) };
    });
    const known = tried.map(({ status }) => status);
    const refused = refusals(known);
    statuses = refused ?? known;
    const columns = columnsOf(crowdOf(undefined, moment), moment.now);
    const absent = refused ? [] : names.filter((_, i) => !tried[i]?.row);
    // In one order for all sessions, which wait for rows that others make.
    missing = absent.sort().map((name) => ({ name, rev: 0, columns, wakes: [] }));
    writes = refused || absent.length > 0 ? [] : tried.flatMap(({ write }) => write ?? []);
    return writes;
  };
  for (;;) {
    const terms = { lane: 'claims', withinMs: since + ttlMs - clock.now() } as const;
    try {
      const written = await rows.exchange(names, make, terms);
      if (written.length < writes.length) {
        throw new StoreError(HALF, { retryable: true, outcome: 'unknown' });
      }
      if (missing.length === 0) return statuses;
      await rows.write(missing, terms);
    } catch (error) {
      if (!isBlocked(error)) throw error;
      const late = clock.now() >= since + applying.lockedMs(ttlMs);
      if (late) throw temporaryFailure(applying.KEPT_BUSY);
      await sleep(clock, PAUSE_MS * (0.5 + clock.random()));
    }
  }
}
