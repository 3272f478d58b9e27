import type { Fault } from '../fault.ts';

const live = { file: 'src/live-claim.ts' };
const lane = { file: 'src/lane.ts' };
const track = { file: 'src/track.ts' };
const departure = { file: 'src/departure.ts' };
const subscription = { file: 'src/subscription.ts' };

/** How a claim enters, waits, hears and leaves, whatever becomes of its requests. */
export const CLAIM_FAULTS: readonly Fault[] = [
  {
    ...live,
    name: 'a claim that failed is not released',
    find: 'void this.release();\n      return this.#listener.failed(error);',
    replace: 'this.#end();\n      return this.#listener.failed(error);',
    why: 'after a time-out the lock may be taken, by nobody, for its TTL',
  },
  {
    ...live,
    name: 'an ambiguous claim is released without saying so',
    find: "if (error.outcome === 'unknown') this.#doubt();",
    replace: '',
    why: 'a late copy of the claim takes the lock after its own release',
  },
  {
    ...live,
    name: 'a claim given up while under way is released without saying so',
    find: "if (this.phase === 'claiming') this.#doubt();",
    replace: '',
    why: 'the claim may overtake its release and hold for nobody',
  },
  {
    ...live,
    name: 'a claim that is given up is sent all the same',
    find: "return this.phase !== 'over';",
    replace: 'return true;',
    why: 'an aborted acquisition takes the lock after it was released',
  },
  {
    ...live,
    name: 'the reply to an older heartbeat takes back a grant',
    find: "if (sentAt > this.#grantedAt) this.lose('store-reset');",
    replace: "this.lose('store-reset');",
    why: 'locks are lost for nothing whenever hints overtake replies',
  },
  {
    ...live,
    name: 'a store that forgot the grant is not believed',
    find: "if (sentAt > this.#grantedAt) this.lose('store-reset');",
    replace: '',
    why: 'two holders after a store was reset, until the deadline',
  },
  {
    ...live,
    name: 'a hint while claiming is dropped',
    find: "if (this.phase === 'claiming') this.#askAgain = true;",
    replace: "if (this.phase === 'claiming') return;",
    why: 'a waiter that is admitted at once learns it a third of a TTL later',
  },
  {
    ...live,
    name: 'a hint after the end is heard',
    find: "if (this.phase === 'over') return;\n    const hint",
    replace: 'const hint',
    why: 'a task that gave up is granted the lock, which nobody releases',
  },
  {
    ...live,
    name: 'a hint grants a claim that may have entered twice',
    find: ' && !this.#sentTwice;',
    replace: ';',
    why: 'the hint was about a place that the claim has lost since: two holders',
  },
  {
    ...live,
    name: 'the first waiter does not look when the holder may be dead',
    find: 'if (status.retryInMs < beatMs)',
    replace: 'if (status.retryInMs < 0)',
    why: 'after a crash the lock stays idle for up to a third of a TTL more',
  },
  {
    ...live,
    name: 'the heartbeat goes on after the end',
    find: 'this.#core.heartbeat.remove(this);\n    this.#unsubscribe?.();',
    replace: 'this.#unsubscribe?.();',
    why: 'timers and memory leak with every lock',
  },
  {
    ...live,
    name: 'a claim that has ended stays subscribed',
    find: 'this.#core.heartbeat.remove(this);\n    this.#unsubscribe?.();',
    replace: 'this.#core.heartbeat.remove(this);',
    why: 'subscriptions leak with every lock',
  },
  {
    ...live,
    name: 'minHold begins with an old claim',
    find: 'if (this.terms.confirmGrant && !this.#validity.isFull(status.leftMs)) {',
    replace: 'if (!this.claim) {',
    why: 'a job that must not run again for an hour may do so sooner',
  },
  {
    ...departure,
    name: 'a release that failed is not repeated',
    find: 'if (!error || core.storeClosed()) return;',
    replace: 'if (claim) return;',
    why: 'one lost packet keeps everybody waiting for a TTL',
  },
  {
    ...departure,
    name: 'a repeated release leaves no tombstone',
    find: 'attempt({ ...claim, unanswered: true }, failures + 1, first)',
    replace: 'attempt(claim, failures + 1, first)',
    why: 'a late copy of the claim takes the lock after its own release',
  },
  {
    ...subscription,
    name: 'claiming comes before subscribing',
    find: '  }, go);\n',
    replace: '  }, go);\n  go();\n',
    why: 'the hint that falls between the two is missed',
  },
  {
    ...subscription,
    name: 'no claim is made when subscribing fails',
    find: '  }, go);\n',
    replace: '  }, () => {});\n',
    why: 'without hints nothing works, although hints are a courtesy',
  },
  {
    ...subscription,
    name: 'a subscription that cannot be ended is an unhandled rejection',
    find: 'Promise.resolve(watching[Symbol.asyncDispose]()).catch(ignore);',
    replace: 'void watching[Symbol.asyncDispose]();',
    why: 'a closed connection ends the whole process',
  },
  {
    ...track,
    name: 'a batch that fails takes everybody with it',
    find: "if (batch.length === 1 || error.retryable || error.outcome === 'unknown') {",
    replace: 'if (batch.length > 0) {',
    why: 'one bad request fails a hundred good ones',
  },
  {
    ...track,
    name: 'one batch names a resource twice',
    find: 'batch.length === MAX_BATCH || taken.has(one) ||',
    replace: 'batch.length === MAX_BATCH ||',
    why: 'stores that take a batch as one step confuse the two claims',
  },
  {
    ...track,
    name: 'batches have no order',
    find: 'a.claim.resource < b.claim.resource ? -1 :',
    replace: 'a.claim.resource < b.claim.resource ? 1 :',
    why: 'two processes deadlock in the rows of a database',
  },
  {
    ...lane,
    name: 'a batch crosses the parts of a store',
    find: 'partOf(this.#parts.store, claim.resource)',
    replace: "partOf(this.#parts.store, '')",
    why: 'one server that is away takes all leases of the process with it',
  },
  {
    ...track,
    name: 'a request waits for the end of the batch before it',
    find: 'clock.setTimeout(this.#next, ttlMs / WAITS_PER_TTL)',
    replace: 'clock.setTimeout(this.#next, ttlMs * WAITS_PER_TTL)',
    why: 'one lost answer to a claim of an hour stops all claims for twenty minutes',
  },
  {
    ...track,
    name: 'a request overtakes one of the same claim',
    find: ' || under.has(id)) return true;',
    replace: ') return true;',
    why: 'a store gets two verbs of one claim at once, which it need not keep in order',
  },
];
