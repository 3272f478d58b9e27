import type { Fault } from '../fault.ts';

const deadline = { file: 'src/core/claim/deadline.ts' };
const batcher = { file: 'src/store-calls/batcher.ts' };
const timeLimit = { file: 'src/store-calls/time-limit.ts' };
const live = { file: 'src/core/claim/live-claim.ts' };
const lease = { file: 'src/core/lease.ts' };

/** Until when a lease is held, and what may move that moment. */
export const DEADLINE_FAULTS: readonly Fault[] = [
  {
    ...batcher,
    name: 'the deadline counts from the reply',
    find: 'undefined, sentAt)',
    replace: 'undefined, this.#parts.clock.now())',
    why: 'a slow answer makes two holders',
  },
  {
    ...deadline,
    name: 'there is no deadline, only heartbeats that are refused',
    find: 'this.#until = sentAt + leftMs * (1 - settings.driftRate) - settings.marginMs;',
    replace: 'this.#until = Number.MAX_SAFE_INTEGER - settings.marginMs;',
    why: 'behind a dead network a lease is held for ever',
  },
  {
    ...deadline,
    name: 'the deadline counts the TTL asked for, not the life granted',
    find: 'sentAt + leftMs * (1 - settings.driftRate)',
    replace: 'sentAt + this.#terms.ttlMs * (1 - settings.driftRate)',
    why: 'a repeated claim believes in more life than the store gave',
  },
  {
    ...deadline,
    name: 'clocks are taken to run alike',
    find: 'leftMs * (1 - settings.driftRate)',
    replace: 'leftMs',
    why: 'two holders, where the clock of the server is faster',
  },
  {
    ...deadline,
    name: 'no margin is kept',
    find: ' - settings.marginMs;',
    replace: ';',
    why: 'rounding in the store makes two holders for a moment',
  },
  {
    ...deadline,
    name: 'an overtaken answer moves the deadline',
    find: 'sentAt < this.#confirmedAt || sentAt < heartbeat.jumpedAt',
    replace: 'sentAt < heartbeat.jumpedAt',
    why: 'an old answer ends, or prolongs, what a newer one has settled',
  },
  {
    ...deadline,
    name: 'a request from before the clock may have stood still confirms a claim',
    find: 'sentAt < this.#confirmedAt || sentAt < heartbeat.jumpedAt',
    replace: 'sentAt < this.#confirmedAt',
    why: 'in a virtual machine that wakes, somebody begins with what others have by now',
  },
  {
    ...deadline,
    name: 'a lease is handed on although the clock may have stood still',
    find: '!this.#isStale() && now',
    replace: 'now',
    why: 'the next task begins with a lock that others may have by now',
  },
  {
    ...deadline,
    name: 'a store that never answers is asked for ever',
    find: 'return (this.doubt?.forMs ?? 0) >= this.#ttlMs;',
    replace: 'return false;',
    why: 'waits never end while the store is down',
  },
  {
    ...live,
    name: 'a grant is accepted when its life has passed',
    find: 'if (!this.deadline.fresh(now)) {',
    replace: 'if (now < 0) {',
    why: 'work starts with a lock that is dead',
  },
  {
    ...live,
    name: 'a hint moves the deadline',
    find: "if (grants && hint?.state === 'held') this.#grant(hint, now);",
    replace: `if (sure && calls.store.traits.hintsGrant && hint?.state === 'held') {
        this.deadline.confirm(hint.leftMs, now);
        this.#grant(hint, now);
      }`,
    why: 'a hint that was long under way makes two holders',
  },
  {
    ...live,
    name: 'a late hint grants with too little life',
    find: 'const grants = sure && calls.store.traits.hintsGrant && this.deadline.fresh(now);',
    replace: 'const grants = sure && calls.store.traits.hintsGrant;',
    why: 'a waiter loses its place where one question would have kept it',
  },
  {
    ...live,
    name: 'an ambiguous heartbeat counts as a success',
    find: "if (this.#state.at === 'held') return this.doubt(error);",
    replace:
      "if (this.#state.at === 'held') return this.deadline.confirm(this.claim.ttlMs, clock.now());",
    why: 'a holder cut off from the store goes on for ever',
  },
  {
    ...live,
    name: 'a failed heartbeat is silent',
    find: "events.emit('unconfirmed', { resource, kind, remainingMs, cause });",
    replace: '',
    why: 'nobody is warned while the lock can still be given up in time',
  },
  {
    ...live,
    name: 'no timer at the deadline',
    find: 'this.#timer.set(() => this.awaitDeadline(), left);',
    replace: '',
    why: 'work that waits for its signal is told of the loss too late, or never',
  },
  {
    ...lease,
    name: 'only timers end a lease',
    find: 'return this.remainingMs > 0;',
    replace: 'return !this.#left && !this.#loss;',
    why: 'after a blocked event loop a dead lock looks alive',
  },
  {
    ...lease,
    name: 'a lost lease does not abort its signal',
    find: 'this.#aborter?.abort(error);',
    replace: '',
    why: 'work goes on without the lock',
  },
  {
    ...timeLimit,
    name: 'heartbeats are as rare as the TTL is long',
    find: 'export const TRIES_PER_TTL = 3;',
    replace: 'export const TRIES_PER_TTL = 1;',
    why: 'every lock is lost at its first lost heartbeat',
  },
  {
    file: 'src/core/heartbeat.ts',
    name: 'the next heartbeat is arranged after this one has asked',
    find: 'member.beat();\n    group.tickedAt = now;',
    replace: `member.beat();
    this.#clock.clearTimeout(group.timer);
    group.timer = this.#arm(group.tick, group.everyMs);
    group.tickedAt = now;`,
    why: 'a pause amid the questions delays the news of a loss by a third of the TTL',
  },
  {
    ...timeLimit,
    name: 'an answer is waited for without end',
    find: 'if (store.traits.synchronous) return answer;',
    replace: 'if (clock) return answer;',
    why: 'one lost packet stops the heartbeats of all locks',
  },
  {
    ...timeLimit,
    name: 'a request that runs out does not say why the one before it failed',
    find: 'const cause = failures.get(store);',
    replace: 'const cause: StoreError | undefined = undefined;',
    why: 'while a server is away, nobody learns that its address refuses connections',
  },
  {
    ...timeLimit,
    name: 'the failure of one claim in a batch is not remembered',
    find: 'over(failureIn(value));',
    replace: 'over(undefined);',
    why: 'stores that give each claim its own fate hide why they are away',
  },
  {
    file: 'src/base/event-loop.ts',
    name: 'silence is judged before input is read',
    find: 'clock.setImmediate(judge);',
    replace: 'if (clock) judge();',
    why: 'each pause of the event loop costs the connection and what is under way on it',
  },
  {
    file: 'src/clients/kept-connection.ts',
    name: 'an idle connection keeps the process alive',
    find: '      wire.unref();\n',
    replace: '',
    why: 'a program that has finished never ends',
  },
  {
    file: 'src/clients/silence.ts',
    name: 'a request that is under way does not keep the process alive',
    find: '    this.#timer.ref();\n',
    replace: '',
    why: 'a program ends in the middle, before its lock is released',
  },
  {
    file: 'src/clients/silence.ts',
    name: 'a connection keeps the process alive after its last reply',
    find: 'if (--this.#owed === 0) this.#timer?.unref();',
    replace: 'this.#owed--;',
    why: 'a program that has finished ends seconds later',
  },
  {
    ...lease,
    name: 'a read tells listeners',
    find: 'queueMicrotask(() => detached(() => this.live.check()));',
    replace: 'detached(() => this.live.check());',
    why: 'looking at a lease aborts signals and sends claims in the middle of the code that looks',
  },
  {
    ...lease,
    name: 'what a read has found is told by timers alone',
    find: 'queueMicrotask(() => detached(() => this.live.check()));',
    replace: '',
    why: 'work goes on beside code that knows of the loss',
  },
  {
    ...deadline,
    name: 'what a read has seen to end is held again',
    find: 'return this.#loss;\n  }\n\n  confirm',
    replace: `const loss = this.#loss;
    this.#loss = undefined;
    return loss;
  }

  confirm`,
    why: 'one part of the program has stopped, and another goes on',
  },
];
