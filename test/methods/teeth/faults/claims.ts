import type { Fault } from '../fault.ts';

const live = { file: 'src/core/claim/live-claim.ts' };
const byPart = { file: 'src/store-calls/by-part.ts' };
const batcher = { file: 'src/store-calls/batcher.ts' };
const release = { file: 'src/store-calls/release.ts' };
const watching = { file: 'src/core/claim/watching.ts' };

/** How a claim enters, waits, hears and leaves, whatever becomes of its requests. */
export const CLAIM_FAULTS: readonly Fault[] = [
  {
    ...live,
    name: 'a claim that failed is not released',
    find: 'void this.release();\n      return this.#claimant.failed(error);',
    replace: 'this.#end();\n      return this.#claimant.failed(error);',
    why: 'after a time-out the lock may be taken, by nobody, for its TTL',
  },
  {
    ...live,
    name: 'an ambiguous claim is released without saying so',
    find: "if (error.outcome === 'unknown') this.#markUnanswered();",
    replace: '',
    why: 'a late copy of the claim takes the lock after its own release',
  },
  {
    ...live,
    name: 'a claim given up while under way is released without saying so',
    find: "if (this.#state.at === 'asking') this.#markUnanswered();",
    replace: '',
    why: 'the claim may overtake its release and hold for nobody',
  },
  {
    ...live,
    name: 'a claim that is given up is sent all the same',
    find: "return this.#state.at !== 'over';",
    replace: 'return true;',
    why: 'an aborted acquisition takes the lock after it was released',
  },
  {
    ...live,
    name: 'the reply to an older heartbeat takes back a grant',
    find: "if (sentAt > state.since) this.lose({ reason: 'store-reset' });",
    replace: "this.lose({ reason: 'store-reset' });",
    why: 'locks are lost for nothing whenever hints overtake replies',
  },
  {
    ...live,
    name: 'a store that forgot the grant is not believed',
    find: "if (sentAt > state.since) this.lose({ reason: 'store-reset' });",
    replace: '',
    why: 'two holders after a store was reset, until the deadline',
  },
  {
    ...live,
    name: 'a hint while claiming is dropped',
    find: "if (state.at === 'asking') {\n      this.#question = 'again';",
    replace: "if (state.at === 'asking') {\n      return;",
    why: 'a waiter that is admitted at once learns it a third of a TTL later',
  },
  {
    ...live,
    name: 'a hint grants a claim that may have entered twice',
    find: "const sure = state.at === 'waiting' && !state.doubled &&",
    replace: "const sure = state.at === 'waiting' &&",
    why: 'the hint was about a place that the claim has lost since: two holders',
  },
  {
    ...live,
    name: 'the first waiter does not look when the holder may be dead',
    find: 'if (retryInMs >= this.beatTtlMs / TRIES_PER_TTL) return;',
    replace: 'if (retryInMs >= 0) return;',
    why: 'after a crash the lock stays idle for up to a third of a TTL more',
  },
  {
    ...live,
    name: 'the heartbeat goes on after the end',
    find: 'this.services.heartbeat.remove(this);\n    this.#unwatch();',
    replace: 'this.#unwatch();',
    why: 'timers and memory leak with every lock',
  },
  {
    ...live,
    name: 'a claim that has ended stays subscribed',
    find: 'this.services.heartbeat.remove(this);\n    this.#unwatch();',
    replace: 'this.services.heartbeat.remove(this);',
    why: 'subscriptions leak with every lock',
  },
  {
    ...live,
    name: 'minHold begins with an old claim',
    find: 'if (this.#terms.minHoldMs > 0 && !this.deadline.isFull(status.leftMs)) {',
    replace: 'if (!this.claim) {',
    why: 'a job that must not run again for an hour may do so sooner',
  },
  {
    ...release,
    name: 'a release that failed is not repeated',
    find: 'if (this.#closed) return;\n    const now',
    replace: 'if (claim) return;\n    const now',
    why: 'one lost packet keeps everybody waiting for a TTL',
  },
  {
    ...release,
    name: 'a repeated release leaves no tombstone',
    find: 'this.#try({ ...claim, unanswered: true }, next)',
    replace: 'this.#try(claim, next)',
    why: 'a late copy of the claim takes the lock after its own release',
  },
  {
    ...watching,
    name: 'claiming comes before subscribing',
    find: '  watching.then(go, go);\n',
    replace: '  watching.then(go, go);\n  go();\n',
    why: 'the hint that falls between the two is missed',
  },
  {
    ...watching,
    name: 'no claim is made when subscribing fails',
    find: 'watching.then(go, go);',
    replace: 'watching.then(go, () => {});',
    why: 'without hints nothing works, although hints are a courtesy',
  },
  {
    ...watching,
    name: 'a subscription that cannot be ended is an unhandled rejection',
    find: '.then((subscribed) => subscribed?.[Symbol.asyncDispose]()).catch(() => {});',
    replace: '.then((subscribed) => subscribed?.[Symbol.asyncDispose]());',
    why: 'a closed connection ends the whole process',
  },
  {
    ...batcher,
    name: 'a batch that fails takes everybody with it',
    find: "if (batch.length === 1 || error.retryable || error.outcome === 'unknown') {",
    replace: 'if (batch.length > 0) {',
    why: 'one bad request fails a hundred good ones',
  },
  {
    ...batcher,
    name: 'one batch names a resource twice',
    find: 'batch.length === MAX_BATCH || taken.has(one) ||',
    replace: 'batch.length === MAX_BATCH ||',
    why: 'stores that take a batch as one step confuse the two claims',
  },
  {
    ...batcher,
    name: 'batches have no order',
    find: 'a.claim.resource < b.claim.resource ? -1 :',
    replace: 'a.claim.resource < b.claim.resource ? 1 :',
    why: 'two processes deadlock in the rows of a database',
  },
  {
    ...byPart,
    name: 'a batch crosses the parts of a store',
    find: 'partOf(this.#parts.store, claim.resource)',
    replace: "partOf(this.#parts.store, '')",
    why: 'one server that is away takes all leases of the process with it',
  },
  {
    ...batcher,
    name: 'a request waits for the end of the batch before it',
    find: 'const waitMs = ttlMs / WAITS_PER_TTL;',
    replace: 'const waitMs = ttlMs * WAITS_PER_TTL;',
    why: 'one lost answer to a claim of an hour stops all claims for twenty minutes',
  },
  {
    ...batcher,
    name: 'a request of a shorter TTL prolongs the wait of those before it',
    find: '    if (dueAt >= this.#dueAt) return;\n',
    replace: '',
    why: 'who keeps asking for short locks holds up a long one behind a lost answer',
  },
  {
    ...batcher,
    name: 'a request overtakes one of the same claim',
    find: ' || under.has(id)) return true;',
    replace: ') return true;',
    why: 'a store gets two verbs of one claim at once, which it need not keep in order',
  },
];
