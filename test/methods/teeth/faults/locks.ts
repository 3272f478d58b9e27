import { type Faults, inTest } from '../fault.ts';

const queue = { file: 'src/queue/queue.ts' };
const reentrancy = { file: 'src/primitives/reentrancy.ts' };

const REENTRANCY = 'test/primitives/reentrancy.test.ts';

/** One claim beside others, and everything that is built upon leases. */
export const LOCK_FAULTS: Faults = {
  'time in a suspended machine does not count': {
    file: 'src/base/clock.ts',
    find: 'suspended += counted;',
    replace: '',
    why: 'a laptop wakes up and believes that it still holds',
    by: inTest(
      'test/base/clock.test.ts',
      'the system clock',
      'counts time in which the machine was suspended',
    ),
  },
  'tombstones are not looked at': {
    ...queue,
    find: 'if (buried) return buried;',
    replace: '',
    why: 'a late copy of a claim takes the lock for nobody',
    by: inTest(
      'test/methods/conformance/chaos.test.ts',
      'seed 1',
      'release: a claim that arrives after its release is refused for good',
    ),
  },
  'a store without memory grants at once': {
    ...queue,
    find: 'this.#claims.settle(now, now >= this.#closedUntil, settling);',
    replace: 'this.#claims.settle(now, now >= 0, settling);',
    why: 'two holders after a store was restarted',
    by: inTest(
      'test/queue/queue.test.ts',
      'the queue as a value',
      'grants nothing while it is closed',
    ),
  },
  'permits all weigh the same': {
    file: 'src/contract/admission.ts',
    find: 'used += standing.permits;',
    replace: 'used += 1;',
    why: 'a writer beside readers, and more permits in use than there are',
    by: { seed: 2 },
  },
  'parallel siblings share the lock': {
    ...reentrancy,
    find: 'if (this.busy) {\n      await',
    replace: 'if (!this.lease) {\n      await',
    why: 'Promise.all inside a lock runs its branches without exclusion',
    by: inTest(REENTRANCY, 'a nested run', 'excludes its siblings, in order'),
  },
  'a nested run begins under a lost lease': {
    ...reentrancy,
    find: 'this.lease.assertHeld();',
    replace: '',
    why: 'work starts without the lock',
    by: inTest(REENTRANCY, 'a nested run', 'on a lease that was lost rejects'),
  },
  'a reader may enter as a writer': {
    file: 'src/primitives/lock.ts',
    find: 'return around.lease.kind === this.spec.kind;',
    replace: "return around.lease.kind === this.spec.kind || around.lease.kind === 'read';",
    why: 'a writer beside readers',
    by: inTest(
      REENTRANCY,
      'a reader or writer',
      'may read while it writes, but a reader may not write: it would wait for ever',
    ),
  },
  'the second term has the lease of the first': {
    file: 'src/jobs/election/candidate.ts',
    find: 'if (this.#lease?.held) {\n',
    replace: 'if (this.#lease) {\n',
    why: 'a leader without a seat beside the one that has it',
    by: inTest(
      'test/jobs/election.test.ts',
      'a candidate',
      'leads term by term: the seat is given up after each, and it stands again',
    ),
  },
  'a run whose lease was lost succeeds': {
    file: 'src/primitives/lockable.ts',
    find: 'if (loss && loss !== thrown?.error) {',
    replace: 'if (loss && thrown && loss !== thrown.error) {',
    why: 'the caller believes that nobody else was inside',
    by: inTest(
      'test/core/close.test.ts',
      'close',
      'aborts signals after `drain`, and releases what settles then',
    ),
  },
  'a record that was refused counts as written': {
    file: 'src/jobs/records.ts',
    find: 'if (await keep(lease, keeping)) return;',
    replace: 'await keep(lease, keeping);\n      return;',
    why: 'two attempts that overlap both succeed',
    by: inTest('test/jobs/once.test.ts', 'once', 'cannot record what another has done meanwhile'),
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
