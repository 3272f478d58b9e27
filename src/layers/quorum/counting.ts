import { StoreError } from '../../contract/errors.ts';
import { GONE_REASONS } from '../../contract/gone.ts';
import type { GoneStatus, HeldStatus, Takeover } from '../../contract/store.ts';
import type { Vote } from './vote.ts';
import type { QuorumVotes } from './votes.ts';

/** The most informative reason of the members at which the claim is gone; a refusal is none. */
export function goneOf(votes: readonly Vote[]): GoneStatus | undefined {
  const gone = votes.flatMap(({ status }) =>
    status?.state === 'gone' && status.why !== 'refused' ? [status] : [],
  );
  return GONE_REASONS.flatMap((why) => gone.filter((status) => status.why === why))[0];
}

/** For how long the member grants nothing, in ms, because it lost its memory. */
export function closedMs({ status }: Vote): number {
  if (status?.state === 'gone') return status.quarantineMs ?? 0;
  return status?.state === 'waiting' && status.why === 'data-loss' ? status.retryInMs : 0;
}

/** A try is refused; a loss of memory is the reason if without it there is no majority. */
export function refusalOf({ votes, majority }: QuorumVotes): GoneStatus {
  const closed = votes.map(closedMs).sort((a, b) => a - b);
  return { state: 'gone', why: 'refused', quarantineMs: closed[majority - 1] || undefined };
}

/**
 * The least life in the best majority, counted from `startedAt`. A vote asked for before that has
 * lost life since, by a clock that may run up to twice as fast as ours.
 */
export function leftOf({ held, majority }: QuorumVotes, startedAt: number): number {
  const lives = held.map((vote) => {
    const { leftMs } = vote.held as HeldStatus;
    return leftMs - 2 * Math.max(0, startedAt - vote.sentAt);
  });
  return Math.max(0, lives.sort((a, b) => b - a)[majority - 1] ?? 0);
}

/** The greatest number in a majority of the votes, the lowest members first. */
export function tokenOf({ held, majority }: QuorumVotes): bigint {
  let token = 0n;
  for (const { held: status } of held.slice(0, majority)) {
    if (status && status.token > token) token = status.token;
  }
  return token;
}

/**
 * How the hold before ended. Each member reports the last vote that it gave, which need not have
 * been part of a hold: an end that left work undone comes first, then the one that most members
 * report.
 */
export function takeoverOf({ held }: QuorumVotes): Takeover | undefined {
  const all = held.flatMap((vote) => vote.held?.takeover ?? []);
  const says = (one: Takeover): number =>
    all.filter(({ reason, token }) => reason === one.reason && token === one.token).length;
  const undone = ({ reason }: Takeover): number => (reason === 'released' ? 0 : 1);
  return all.sort(
    (a, b) => undone(b) - undone(a) || says(b) - says(a) || Number(b.token - a.token),
  )[0];
}

/** Why there is no majority: the error of one member that failed. */
export function failureOf({ votes, majority }: QuorumVotes): StoreError {
  const errors = votes.flatMap(({ status }) => (status?.state === 'error' ? [status.error] : []));
  const [cause] = errors;
  const failed = `${errors.length} of ${votes.length} members failed`;
  const message = `${failed}, and a majority is ${majority}`;
  return new StoreError(`${message}: ${cause?.message ?? 'the others came too late'}`, {
    cause,
    retryable: true,
    outcome: 'unknown',
  });
}
