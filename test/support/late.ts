/**
 * Whether a failure says only that something came too late, and the machine stood still meanwhile.
 *
 * Invariant: what is not on this list of late kinds is a failure on any machine: two holders, a
 * token that did not grow, a lost write, a wrong reason, or what no one has thought of.
 */

/** What vitest keeps of an error, as its runner does: values of assertions as text. */
export interface Failure {
  readonly name?: string | undefined;
  readonly message?: string | undefined;
  readonly code?: unknown;
  readonly reason?: unknown;
  readonly actual?: unknown;
  readonly expected?: unknown;
  readonly cause?: unknown;
}

/** The name of errors of patience that ran out. */
export const TOO_LATE = 'TooLate';

/**
 * What a lease, or the reason for its loss, may be told to be as long as nothing stood still, and
 * what that makes of it.
 */
const ENDED: Readonly<Record<string, RegExp>> = {
  undefined: /^(expired|stalled)$/,
  held: /^(lost|gone|expired|stalled|waiting|unconfirmed)$/,
  unconfirmed: /^(lost|gone|expired|stalled)$/,
  waiting: /^(lost|gone|expired|stalled)$/,
};

/** Of Holdfast, and of clients with limits of their own. */
const UNANSWERED =
  /did not answer|no (answer|reply)|timed? ?out|not be (sent .* in time|written for a whole TTL)/i;

const LATE_MESSAGES = [
  // The kit's own patience, whose errors have no name of their own.
  /^(in vain waited until|not done after \d+ ms|no change was told within)/,
  /^expected a (held|waiting) claim, got \{"state":"gone","why":"expired"\}/,
  /^(Test|Hook) timed out in \d+ms/,
  // Whether it is there at all, not what it is.
  /^expected (null|undefined) (not to be (null|undefined)|to be (defined|truthy))/,
  // A bare `false` does not say what it was asked.
  /^expected .* to have property "held" with value true/s,
];

export function isLate(failure: Failure): boolean {
  const { name, message = '', code, reason } = failure;
  if (name === TOO_LATE || code === 'ACQUIRE_TIMEOUT') return true;
  if (code === 'LEASE_LOST') return reason === 'expired' || reason === 'stalled';
  if (code === 'STORE') return UNANSWERED.test(message);
  return LATE_MESSAGES.some((each) => each.test(message)) || ranOut(failure) || hasEnded(failure);
}

/** Of a test that has failed in all these ways. */
export function isVoid(verdict: {
  readonly failures: readonly Failure[];
  /** The longest time for which the machine stood still during the test. */
  readonly gapMs: number;
  /** The shortest lease of its bed. */
  readonly leaseMs: number;
}): boolean {
  const { failures, gapMs, leaseMs } = verdict;
  return failures.length > 0 && gapMs > leaseMs / 3 && failures.every(isLate);
}

/** `expect.poll` says so beside what it saw last. */
function ranOut({ cause }: Failure): boolean {
  return (cause as Failure | undefined)?.message === 'Matcher did not succeed in time.';
}

/** All that differs from what was expected is that leases, or waits for them, have ended. */
function hasEnded({ actual, expected }: Failure): boolean {
  if (typeof actual !== 'string' || typeof expected !== 'string') return false;
  const seen = actual.split('\n');
  const wanted = expected.split('\n');
  if (seen.length !== wanted.length || actual === expected) return false;
  return seen.every((line, i) => line === wanted[i] || endedIn(line, wanted[i] ?? ''));
}

function endedIn(seen: string, wanted: string): boolean {
  const [, before, state = ''] = STATE.exec(seen) ?? [];
  const [, same, hoped = ''] = STATE.exec(wanted) ?? [];
  return before === same && (ENDED[hoped]?.test(state) ?? false);
}

/** A line of a printed value: `held`, `"held",` or `"state": "held",`. */
const STATE = /^(\s*(?:"?state"?: )?)"?(\w+)"?,?$/;
