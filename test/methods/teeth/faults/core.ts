import { type Faults, inTest } from '../fault.ts';

const deadline = { file: 'src/core/claim/deadline.ts' };
const liveClaim = { file: 'src/core/claim/live-claim.ts' };
const localQueue = { file: 'src/core/local-queue.ts' };

const DEADLINE = 'test/core/deadline.test.ts';
const DEADLINE_OF_A_CLAIM = 'test/core/deadline-of-a-claim.test.ts';
const HAND_OFF = 'test/core/hand-off.test.ts';
const HAND_OVER = 'test/core/hand-over.test.ts';
const LEASE = [DEADLINE, 'a lease'] as const;
const CLAIM_DEADLINE = [DEADLINE_OF_A_CLAIM, 'the deadline of a claim'] as const;

/** How long a lease is held, who moves that moment, and which token it has. */
export const CORE_FAULTS: Faults = {
  'the deadline counts from the reply': {
    file: 'src/store-calls/batcher.ts',
    find: 'error, this.#sentAt)',
    replace: 'error, this.#parts.clock.now())',
    why: 'a slow answer makes two holders',
    by: { seed: 7 },
  },
  'a lease goes on while it is handed over': {
    file: 'src/core/lease.ts',
    find: `      this.#left = DONE;
      this.live.lose({ reason: 'handed-over' });
`,
    replace: '',
    why: 'two processes work under one lock',
    by: inTest(
      HAND_OVER,
      'handing over',
      'ends the lease here before the request leaves, and says why',
    ),
  },
  'who resumes a lease has the token of who gave it': {
    file: 'src/core/lease.ts',
    find: 'offer(this, this.#nth + 1)',
    replace: 'offer(this, this.#nth)',
    why: 'the fence lets late writes of the giver in',
    by: inTest(HAND_OVER, 'resuming', 'gets the lock with the next token, and knows how it came'),
  },
  'no margin is kept': {
    ...deadline,
    find: ' - settings.marginMs;',
    replace: ';',
    why: 'rounding in the store makes two holders for a moment',
    by: inTest(DEADLINE, 'the deadline', 'counts from before the request was sent'),
  },
  'an overtaken answer moves the deadline': {
    ...deadline,
    find: 'sentAt < this.#confirmedAt || sentAt < heartbeat.jumpedAt',
    replace: 'sentAt < heartbeat.jumpedAt',
    why: 'an old answer ends, or prolongs, what a newer one has settled',
    by: inTest(
      ...CLAIM_DEADLINE,
      'is not moved by the reply to a request that a later one has overtaken',
    ),
  },
  'a request from before the clock may have stood still confirms a claim': {
    ...deadline,
    find: 'sentAt < this.#confirmedAt || sentAt < heartbeat.jumpedAt',
    replace: 'sentAt < this.#confirmedAt',
    why: 'in a virtual machine that wakes, somebody begins with what others have by now',
    by: inTest(
      ...CLAIM_DEADLINE,
      'is in doubt after the clock may have stood still, until a later request',
    ),
  },
  'a hint moves the deadline': {
    ...liveClaim,
    find: "if (grants && hint?.state === 'held') this.#grant(hint, now);",
    replace: `if (sure && calls.store.traits.hintsGrant && hint?.state === 'held') {
        this.deadline.confirm(hint.leftMs, now);
        this.#grant(hint, now);
      }`,
    why: 'a hint that was long under way makes two holders',
    by: inTest(
      ...LEASE,
      'aborts its signal at the deadline when a hint granted after failed heartbeats',
    ),
  },
  'an ambiguous heartbeat counts as a success': {
    ...liveClaim,
    find: "if (this.#state.at === 'held') return this.doubt(error);",
    replace:
      "if (this.#state.at === 'held') return this.deadline.confirm(this.claim.ttlMs, clock.now());",
    why: 'a holder cut off from the store goes on for ever',
    by: inTest(...LEASE, 'aborts its signal at the deadline when heartbeats are never answered'),
  },
  'only timers end a lease': {
    file: 'src/core/lease.ts',
    find: 'return this.remainingMs > 0;',
    replace: 'return !this.#left && !this.#loss;',
    why: 'after a blocked event loop a dead lock looks alive',
    by: inTest(
      'test/base/clock.test.ts',
      'the system clock',
      'lets a lease die in a suspended machine',
    ),
  },
  'silence is judged before input is read': {
    file: 'src/base/event-loop.ts',
    find: 'clock.setImmediate(judge);',
    replace: 'if (clock) judge();',
    why: 'each pause of the event loop costs the connection and what is under way on it',
    by: inTest(
      'test/clients/kept-connection.test.ts',
      'an answer that came while the process stood still is no silence',
    ),
  },
  'a claim given up while under way is released without saying so': {
    ...liveClaim,
    find: "if (this.#state.at === 'asking') this.#markUnanswered();",
    replace: '',
    why: 'the claim may overtake its release and hold for nobody',
    by: inTest(
      'test/core/claiming.test.ts',
      'an aborted wait',
      'while claiming does not wait for the answer, and the release says so',
    ),
  },
  'a hint grants a claim that may have entered twice': {
    ...liveClaim,
    find: "const sure = state.at === 'waiting' && !state.doubled &&",
    replace: "const sure = state.at === 'waiting' &&",
    why: 'the hint was about a place that the claim has lost since: two holders',
    by: inTest(
      'test/core/hints.test.ts',
      'a held hint',
      'only makes core ask when the claim may have entered twice',
    ),
  },
  'minHold begins with an old claim': {
    ...liveClaim,
    find: 'if (!this.deadline.lasts(this.#claimant.spec.minHoldMs, status.leftMs, now)) {',
    replace: 'if (!this.claim) {',
    why: 'a job that must not run again for an hour may do so sooner',
    by: inTest(
      DEADLINE_OF_A_CLAIM,
      'a grant of old age is renewed before it is handed out with minHold',
    ),
  },
  'a release that failed is not repeated': {
    file: 'src/store-calls/release.ts',
    find: 'if (closed) return;\n    const now',
    replace: 'if (clock) return;\n    const now',
    why: 'one lost packet keeps everybody waiting for a TTL',
    by: inTest(
      'test/primitives/run.test.ts',
      'release',
      'waits for one try, and goes on in the background until the TTL',
    ),
  },
  'the token does not grow with a local hand-off': {
    ...localQueue,
    find: 'this.#issued++',
    replace: 'this.#issued',
    why: 'a fence lets in the task before as well',
    by: { seed: 10 },
  },
  'a downgraded lock is handed on as a write lock': {
    ...localQueue,
    find: ' || claim?.kind !== this.spec.kind) return false;',
    replace: ' || claim === undefined) return false;',
    why: 'a writer beside readers',
    by: inTest(
      HAND_OFF,
      'a downgraded write lock',
      'is not handed on to a writer of this process: answered',
    ),
  },
};
