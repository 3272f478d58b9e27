import type { Fault } from '../fault.ts';

const memory = { file: 'src/stores/memory/memory-store.ts' };
const queue = { file: 'src/stores/memory/claim-queue.ts' };
const admission = { file: 'src/contract/admission.ts' };

/** A store that breaks the contract: the one in memory. */
export const MEMORY_FAULTS: readonly Fault[] = [
  {
    ...memory,
    name: 'a release does not look who holds',
    find: 'const entry = this.#live(queue, claim.id);\n    if (!entry || claim.unanswered)',
    replace: `const holder = queue?.describe(this.#clock.now()).holders[0]?.number ?? 0n;
    const entry = this.#live(queue, claim.id) ?? queue?.numbered(holder);
    if (!entry || claim.unanswered)`,
    why: 'a late release frees the lock of somebody else',
  },
  {
    ...memory,
    name: 'a heartbeat does not look who holds',
    find: `const entry = this.#live(queue, claim.id);
    if (!queue || !entry) return this.#missing(claim.id);
    if (!entry.sealed)`,
    replace: `const holder = queue?.describe(this.#clock.now()).holders[0]?.number ?? 0n;
    const entry = this.#live(queue, claim.id) ?? queue?.numbered(holder);
    if (!queue || !entry) return this.#missing(claim.id);
    if (!entry.sealed)`,
    why: 'whoever lost the lock is told that it has it',
  },
  {
    ...memory,
    name: 'a heartbeat makes a missing claim anew',
    find: 'if (!queue || !entry) return this.#missing(claim.id);\n    if (!entry.sealed)',
    replace: 'if (!queue || !entry) return this.#enter(claim);\n    if (!entry.sealed)',
    why: "whoever lost the lock takes it again, and its work goes on over another's",
  },
  {
    ...memory,
    name: 'an evicted claim may renew',
    find: 'if (!entry.sealed) entry.expiresAt = this.#clock.now() + claim.ttlMs;',
    replace: 'entry.expiresAt = this.#clock.now() + claim.ttlMs;',
    why: 'an eviction never takes effect while the holder is alive',
  },
  {
    ...queue,
    name: 'an evicted holder is not told',
    find: 'if (entry.sealed) return entry.sealed;',
    replace: '',
    why: 'work goes on until the lock is taken from it',
  },
  {
    ...memory,
    name: 'tombstones are not looked at',
    find: 'if (buried) return buried;',
    replace: '',
    why: 'a late copy of a claim takes the lock for nobody',
  },
  {
    ...memory,
    name: 'a release leaves no tombstone',
    find: 'if (!entry || claim.unanswered) this.#tombstones.bury(claim, UNKNOWN);',
    replace: '',
    why: 'a late copy of a claim takes the lock for nobody',
  },
  {
    ...memory,
    name: 'a store without memory grants at once',
    find: 'const open = now >= this.#quarantinedUntil;',
    replace: 'const open = now >= 0;',
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
    ...queue,
    name: 'whoever fits is admitted, first in line or not',
    find: `for (let first = this.#next(now); first; first = this.#next(now)) {
      if (!open || admissible([...this.#holders, first]) === 0) break;`,
    replace: `for (const first of this.#waiters) {
      if (first.expiresAt <= now || !open) continue;
      if (admissible([...this.#holders, first]) === 0) continue;`,
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
    ...queue,
    name: 'a dead holder stays',
    find: 'if (holder.expiresAt > now) continue;',
    replace: 'if (now > 0) continue;',
    why: 'a crash locks everybody out for ever',
  },
  {
    ...queue,
    name: 'the new first waiter is not told',
    find: 'first.first = true;\n    if (first !== entering) this.#tell(first);',
    replace: 'first.first = true;',
    why: 'a dead holder is noticed late',
  },
  {
    ...queue,
    name: 'the admitted are not told',
    find: 'first.takeover = takeover;\n      if (first !== entering) this.#tell(first);',
    replace: 'first.takeover = takeover;',
    why: 'every hand-off takes a third of a TTL',
  },
  {
    ...memory,
    name: 'holders do not hear of their first waiter',
    find: 'if (queue.waiting === 1) queue.tellHolders();',
    replace: '',
    why: 'a process keeps the lock among its own tasks while others wait',
  },
  {
    ...queue,
    name: 'nobody learns how an idle lock was left',
    find: "this.#holders.size > 0 || takeover?.reason === 'released' ? undefined : takeover;",
    replace: 'undefined;',
    why: 'unfinished work of a crashed holder is not recovered',
  },
  {
    ...memory,
    name: 'a refused try stays in the queue',
    find: 'queue.remove(entry);\n    this.#settle(queue);\n    if (!claim.queue)',
    replace: 'if (!claim.queue)',
    why: 'the lock is granted to a try that was told no',
  },
];
