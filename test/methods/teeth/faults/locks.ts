import { type Faults, inTest } from '../fault.ts';

const liveClaim = { file: 'src/core/claim/live-claim.ts' };

const DEADLINE = 'test/core/deadline.test.ts';
const HAND_OVER = 'test/core/hand-over.test.ts';
const REENTRANCY = 'test/primitives/reentrancy.test.ts';
const LEASE = [DEADLINE, 'a lease'] as const;

/** What `npm run mutation` does not make of itself, or does not reach. */
export const LOCK_FAULTS: Faults = {
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
  'permits all weigh the same': {
    file: 'src/contract/admission.ts',
    find: 'used += standing.permits;',
    replace: 'used += 1;',
    why: 'a writer beside readers, and more permits in use than there are',
    by: { seed: 2 },
  },
  'a nested run begins under a lost lease': {
    file: 'src/primitives/reentrancy.ts',
    find: 'this.lease.assertHeld();',
    replace: '',
    why: 'work starts without the lock',
    by: inTest(REENTRANCY, 'a nested run', 'on a lease that was lost rejects'),
  },
  'a locked method is called without its lock': {
    file: 'src/integrations/decorator/locked.ts',
    find: "if (ifBusy === 'wait') return mutex.run(",
    replace: "if (ifBusy === 'wait') return (async (_, run) => run())(",
    why: 'two calls at a time change one thing',
    by: inTest(
      'test/integrations/decorator/locked.test.ts',
      'a method locked by a standard decorator',
      'runs under the mutex that its arguments name, with its own this and arguments',
    ),
  },
  'the dashboard shows all to those who are not let in': {
    file: 'src/dashboard/dashboard.ts',
    find: 'if (!(await gate.admits(request))) {',
    replace: 'if (!(await gate.admits(request)) && false) {',
    why: 'names of accounts are in front of the whole network',
    by: inTest('test/dashboard/requests.test.ts', 'looking', 'needs auth: GET '),
  },
  'bash is given names as they are': {
    file: 'src/cli/completion/bash.ts',
    find: 'printf -v word %q',
    replace: 'printf -v word %s',
    why: 'a name that is completed runs as a command',
    by: inTest(
      'test/cli/units/completion.test.ts',
      'completes names that are in use, and runs none of them',
    ),
  },
};
