import type { Fault } from '../fault.ts';

const queue = { file: 'src/core/local-queue.ts' };
const waiter = { file: 'src/core/waiter.ts' };
const lease = { file: 'src/core/lease.ts' };
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
    find: '!this.spec.shared || this.#issued >= STEP',
    replace: '!this.spec.shared',
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
    find: 'if (this.#live.fresh(now)) return this.#hand(now);',
    replace: 'return this.#hand(now);',
    why: 'the next task starts with a lock that is dead',
  },
  {
    ...queue,
    name: 'the release of a lost lease frees its successor',
    find: 'if (this.lease !== lease) return live.release(afterMs);',
    replace: '',
    why: 'the claim of its successor is forgotten, and keeps everybody out',
  },
  {
    ...queue,
    name: 'a process keeps the lock while others wait',
    find: 'return this.#passed <= BATCH.count && now - this.#passingSince <= BATCH.ms;',
    replace: 'return true;',
    why: 'other processes starve',
  },
  {
    ...queue,
    name: 'a turn is bounded in count but not in time',
    find: 'this.#passed <= BATCH.count && now - this.#passingSince <= BATCH.ms',
    replace: 'this.#passed <= BATCH.count',
    why: 'other processes wait for sixty-four long holds',
  },
  {
    ...queue,
    name: 'an aborted task stays in line',
    find: 'this.#line.remove(waiter);\n    if (this.#trying === waiter)',
    replace: 'if (this.#trying === waiter)',
    why: 'the lock is granted to a task that is gone, and never released',
  },
  {
    ...queue,
    name: 'the last task to give up leaves its claim behind',
    find: 'if (this.#trying === waiter) this.#trying = undefined;\n    this.#leaveIfIdle();',
    replace: 'if (this.#trying === waiter) this.#trying = undefined;',
    why: 'the process is granted a lock that nobody there wants',
  },
  {
    ...queue,
    name: 'nobody claims after a loss',
    find: 'if (!this.#live) this.#claimAgain();\n  }\n\n  /** The holder is done.',
    replace: '}\n\n  /** The holder is done.',
    why: 'those behind a lost lease wait for ever',
  },
  {
    ...queue,
    name: 'a place in the queue that is lost is not claimed again',
    find: 'else this.#claimLater();',
    replace: 'else this.core.forget(this);',
    why: 'after a store was reset, waiters wait for ever',
  },
  {
    ...queue,
    name: 'an evicted waiter queues up again',
    find: "else if (why === 'evicted') this.rejectAll(",
    replace: "else if (why === 'evicted' && !this.core) this.rejectAll(",
    why: 'an operator cannot get rid of a waiter',
  },
  {
    ...queue,
    name: 'minHold is ignored',
    find: 'Math.max(0, Math.ceil(this.spec.minHoldMs - (now - lease.since)))',
    replace: '0 * Math.ceil(now)',
    why: 'a job of the hour runs once on every machine',
  },
  {
    file: 'src/core/deadline.ts',
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
    find: 'heartbeat, reentrant, shared, key }',
    replace: 'heartbeat, reentrant, shared, key: resource }',
    why: 'a lock lives for the TTL of whoever came first',
  },
  {
    ...queue,
    name: 'a downgraded lock is handed on as a write lock',
    find: 'if (live.claim.kind !== this.spec.kind) return false;',
    replace: '',
    why: 'a writer beside readers',
  },
  {
    file: 'src/core/questions.ts',
    name: 'a downgraded lock still claims as a writer',
    find: "live.claim = { ...live.claim, kind: 'read', permits: 1 };",
    replace: '',
    why: 'a writer of this process takes the lock over beside readers',
  },
  {
    ...queue,
    name: 'a try waits in line',
    find: 'if (!waits) {',
    replace: 'if (!waits && permits < 0) {',
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
    ...waiter,
    name: 'waiting keeps no process alive',
    find: 'else this.#timer = detached(',
    replace: 'else if (this.#waiting < 0) this.#timer = detached(',
    why: 'a process that only waits for a lock ends, with exit status 0',
  },
];
