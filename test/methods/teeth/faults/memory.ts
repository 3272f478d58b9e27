import type { Fault } from '../fault.ts';

const memory = { file: 'src/stores/memory/memory-store.ts' };
const queue = { file: 'src/queue/queue.ts' };
const claims = { file: 'src/queue/claims.ts' };
const admission = { file: 'src/contract/admission.ts' };

/** A store that breaks the contract: the one in memory, and the queue that it stands on. */
export const MEMORY_FAULTS: readonly Fault[] = [
  {
    ...queue,
    name: 'a release does not look who holds',
    find: 'const entry = this.#alive(claim.id, now);\n    if (!entry || claim.unanswered)',
    replace: `const entry =
      this.#alive(claim.id, now) ?? [...this.#claims].find(({ admitted }) => admitted);
    if (!entry || claim.unanswered)`,
    why: 'a late release frees the lock of somebody else',
  },
  {
    ...queue,
    name: 'a heartbeat does not look who holds',
    find: `const entry = this.#alive(claim.id, now);
    if (!entry) return this.#missing`,
    replace: `const entry =
      this.#alive(claim.id, now) ?? [...this.#claims].find(({ admitted }) => admitted);
    if (!entry) return this.#missing`,
    why: 'whoever lost the lock is told that it has it',
  },
  {
    ...queue,
    name: 'a heartbeat makes a missing claim anew',
    find: 'if (!entry) return this.#missing(claim.id, now);',
    replace: 'if (!entry) return this.enter(claim, now, { number: 1n, maxWaiters: 10_000 });',
    why: "whoever lost the lock takes it again, and its work goes on over another's",
  },
  {
    ...queue,
    name: 'an evicted claim may renew',
    find: 'if (entry.sealed) return;\n    entry.expiresAt',
    replace: 'entry.expiresAt',
    why: 'an eviction never takes effect while the holder is alive',
  },
  {
    ...claims,
    name: 'an evicted holder is not told',
    find: 'if (entry.sealed) return entry.sealed;',
    replace: '',
    why: 'work goes on until the lock is taken from it',
  },
  {
    ...queue,
    name: 'tombstones are not looked at',
    find: 'if (buried) return buried;',
    replace: '',
    why: 'a late copy of a claim takes the lock for nobody',
  },
  {
    ...queue,
    name: 'a release leaves no tombstone',
    find: 'if (!entry || claim.unanswered) this.#bury(claim, UNKNOWN, now);',
    replace: '',
    why: 'a late copy of a claim takes the lock for nobody',
  },
  {
    ...queue,
    name: 'a store without memory grants at once',
    find: 'this.#claims.settle(now, now >= this.#closedUntil, settling);',
    replace: 'this.#claims.settle(now, now >= 0, settling);',
    why: 'two holders after a store was restarted',
  },
  {
    ...memory,
    name: 'a store without memory counts tokens from the beginning',
    find: 'this.lineage = newLineage();\n    this.#last = 0n;',
    replace: 'this.#last = 0n;',
    why: 'a fence refuses everybody, or lets in who is old',
  },
  {
    ...claims,
    name: 'whoever fits is admitted, first in line or not',
    find: `for (let first = this.#next(now); first; first = this.#next(now)) {
      if (!(open || first.trusts) || admissible(this.#holdersAnd(first)) === 0) break;`,
    replace: `for (const first of this.#waiters.all()) {
      if (first.expiresAt <= now || !open) continue;
      if (admissible(this.#holdersAnd(first)) === 0) continue;`,
    why: 'writers starve behind readers, and large claims behind small ones',
  },
  {
    ...admission,
    name: 'every claim brings its own limit',
    find: 'limit = Math.min(limit, standing.limit);\n    used',
    replace: 'limit = standing.limit;\n    used',
    why: 'two versions of a program together use more than either allows',
  },
  {
    ...admission,
    name: 'permits all weigh the same',
    find: 'used += standing.permits;',
    replace: 'used += 1;',
    why: 'a writer beside readers, and more permits in use than there are',
  },
  {
    ...claims,
    name: 'a dead holder stays',
    find: 'if (holder.expiresAt > now) continue;',
    replace: 'if (now > 0) continue;',
    why: 'a crash locks everybody out for ever',
  },
  {
    ...claims,
    name: 'waiters that are left out of a part are not counted',
    find: 'return this.#waiters.size + (this.#leftOut?.count ?? 0);',
    replace: 'return this.#waiters.size;',
    why: 'a queue in a file is never full',
  },
  {
    ...claims,
    name: 'the new first waiter is not told',
    find: 'first.first = true;\n    if (first !== entering) this.woken.push(first);',
    replace: 'first.first = true;',
    why: 'a dead holder is noticed late',
  },
  {
    ...claims,
    name: 'the admitted are not told',
    find: 'first.takeover = takeover;\n      if (first !== entering) this.woken.push(first);',
    replace: 'first.takeover = takeover;',
    why: 'every hand-off takes a third of a TTL',
  },
  {
    ...queue,
    name: 'holders do not hear of their first waiter',
    find: 'if (!entry.admitted && claims.waiting === 1) claims.wakeHolders();',
    replace: '',
    why: 'a process keeps the lock among its own tasks while others wait',
  },
  {
    ...claims,
    name: 'nobody learns how an idle lock was left',
    find: "this.#holders.size > 0 || takeover?.reason === 'released' ? undefined : takeover;",
    replace: 'undefined;',
    why: 'unfinished work of a crashed holder is not recovered',
  },
  {
    ...queue,
    name: 'a refused try stays in the queue',
    find: 'claims.remove(entry);\n    // A claim that',
    replace: '// A claim that',
    why: 'the lock is granted to a try that was told no',
  },
  {
    file: 'src/stores/memory/idle-queues.ts',
    name: 'a look for old endings buries the dead of locks in use',
    find: 'const idle = queue?.size === 0 ? queue : undefined;',
    replace: 'const idle = queue;',
    why: 'the next holder does not learn how the last hold ended',
  },
];
