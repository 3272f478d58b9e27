import type { Fault } from '../fault.ts';

const queue = { file: 'src/core/local-queue.ts' };
const live = { file: 'src/core/claim/live-claim.ts' };
const waiter = { file: 'src/core/waiter.ts' };
const spec = { file: 'src/primitives/lock-spec.ts' };

/** Tasks of one process that share a claim, and its tokens. */
export const HAND_OFF_FAULTS: readonly Fault[] = [
  {
    ...queue,
    name: 'the token does not grow with a local hand-off',
    find: 'this.#issued++',
    replace: 'this.#issued',
    why: 'a fence lets in the task before as well',
  },
  {
    ...queue,
    name: 'the tokens of one claim run into those of the next',
    find: 'spec.key === undefined || this.#issued >= STEP',
    replace: 'spec.key === undefined',
    why: 'a fence refuses the next holder, or lets in the one before',
  },
  {
    file: 'src/contract/token.ts',
    name: 'tokens are doubles',
    find: 'return number * BigInt(STEP) + BigInt(nth);',
    replace: 'return BigInt(Number(number) * STEP + nth);',
    why: 'beyond 2^53 two holders have the same token',
  },
  {
    ...queue,
    name: 'a dead claim is handed on',
    find: 'if (this.#live.deadline.fresh(now)) this.#hand(now);\n    else void this.#giveUp();',
    replace: 'this.#hand(now);',
    why: 'the next task starts with a lock that is dead',
  },
  {
    ...live,
    name: 'the release of a lost lease frees its successor',
    find: 'return this.wanted ? this.#claimant.handOn(now, afterMs) : this.release(afterMs);',
    replace: 'return this.#claimant.handOn(now, afterMs);',
    why: 'the claim of its successor is forgotten, and keeps everybody out',
  },
  {
    ...queue,
    name: 'a process keeps the lock while others wait',
    find: 'return this.#issued - issued < BATCH.count && now - since <= BATCH.ms;',
    replace: 'return true;',
    why: 'other processes starve',
  },
  {
    ...queue,
    name: 'a turn is bounded in count but not in time',
    find: 'this.#issued - issued < BATCH.count && now - since <= BATCH.ms',
    replace: 'this.#issued - issued < BATCH.count',
    why: 'other processes wait for sixty-four long holds',
  },
  {
    ...queue,
    name: 'an aborted task stays in line',
    find: 'this.#line.remove(waiter);\n    this.#leaveIfIdle();',
    replace: 'this.#leaveIfIdle();',
    why: 'the lock is granted to a task that is gone, and never released',
  },
  {
    ...queue,
    name: 'the last task to give up leaves its claim behind',
    find: 'this.#line.remove(waiter);\n    this.#leaveIfIdle();',
    replace: 'this.#line.remove(waiter);',
    why: 'the process is granted a lock that nobody there wants',
  },
  {
    ...queue,
    name: 'nobody claims after a loss',
    find: 'if (!this.#live) this.#claimAgain();\n  }\n\n  handOn',
    replace: '}\n\n  handOn',
    why: 'those behind a lost lease wait for ever',
  },
  {
    ...queue,
    name: 'a place in the queue that is lost is not claimed again',
    find: 'else this.#claimLater();',
    replace: 'else this.#open.remove(this);',
    why: 'after a store was reset, waiters wait for ever',
  },
  {
    ...queue,
    name: 'an evicted waiter queues up again',
    find: "else if (why === 'evicted') this.rejectAll(",
    replace: "else if (why === 'evicted' && !this.spec) this.rejectAll(",
    why: 'an operator cannot get rid of a waiter',
  },
  {
    ...live,
    name: 'minHold is ignored',
    find: 'Math.ceil(this.#terms.minHoldMs - (now - since))',
    replace: '0 * Math.ceil(now)',
    why: 'a job of the hour runs once on every machine',
  },
  {
    file: 'src/core/claim/deadline.ts',
    name: 'maxHold is ignored',
    find: 'this.#maxHoldAt = maxHoldAt;',
    replace: '',
    why: 'work that hangs keeps the lock for ever',
  },
  {
    ...spec,
    name: 'fair tasks share a claim',
    find: 'const shared = !fair && whole',
    replace: 'const shared = whole',
    why: 'a task that came later, in this process, overtakes another process',
  },
  {
    ...spec,
    name: 'tasks with other terms share a claim',
    find: 'heartbeat, key }',
    replace: 'heartbeat, key: key && resource }',
    why: 'a lock lives for the TTL of whoever came first',
  },
  {
    ...queue,
    name: 'a downgraded lock is handed on as a write lock',
    find: "if (state?.at !== 'held' || claim?.kind !== spec.kind) return false;",
    replace: "if (state?.at !== 'held') return false;",
    why: 'a writer beside readers',
  },
  {
    file: 'src/primitives/downgrade.ts',
    name: 'a downgraded lock still claims as a writer',
    find: 'live.claim = claim;',
    replace: '',
    why: 'a writer of this process takes the lock over beside readers',
  },
  {
    ...queue,
    name: 'a try waits in line',
    find: 'if (!waits) {',
    replace: 'if (!waits && !this.spec) {',
    why: 'tryAcquire blocks',
  },
  {
    ...queue,
    name: 'a try is refused because its own process is asking',
    find: 'if (this.#live?.check()) return',
    replace: 'if (this.#live) return',
    why: 'tryAcquire says no while the lock is free',
  },
  {
    ...waiter,
    name: 'a settled task keeps its listener',
    find: 'this.#forgetSignal?.();',
    replace: '',
    why: 'listeners pile up on a signal that outlives the tasks',
  },
  {
    file: 'src/base/event-loop.ts',
    name: 'waiting keeps no process alive',
    find: 'else this.#timer = detached(',
    replace: 'else if (this.#waiting < 0) this.#timer = detached(',
    why: 'a process that only waits for a lock ends, with exit status 0',
  },
];
