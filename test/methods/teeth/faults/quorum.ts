import type { Fault } from '../fault.ts';

const votes = { file: 'src/layers/quorum/votes.ts' };
const claim = { file: 'src/layers/quorum/quorum-claim.ts' };
const hold = { file: 'src/layers/quorum/hold.ts' };
const member = { file: 'src/layers/quorum/member-store.ts' };
const place = { file: 'src/layers/quorum/waiting-place.ts' };
const counting = { file: 'src/layers/quorum/counting.ts' };
const vote = { file: 'src/layers/quorum/vote.ts' };
const index = { file: 'src/layers/quorum/index.ts' };

/** What a quorum can get wrong. */
export const QUORUM_FAULTS: readonly Fault[] = [
  {
    ...votes,
    name: 'quorum: half of the members make a majority',
    find: 'return Math.floor(members / 2) + 1;',
    replace: 'return Math.floor(members / 2);',
    why: 'two hold at a time',
  },
  {
    ...votes,
    name: 'quorum: only those that granted are released',
    find: 'const cast = this.votes.filter((vote) => vote.cast);',
    replace: 'const cast = this.votes.filter((vote) => vote.held);',
    why: 'a vote whose answer was lost stands in the way until its TTL ends',
  },
  {
    ...votes,
    name: 'quorum: the slowest member is waited for',
    find: 'if (left === 0 || settled()) resolve();',
    replace: 'if (left === 0) resolve();',
    why: 'one member that hangs delays every acquisition',
  },
  {
    ...counting,
    name: 'quorum: a try that meets a loss of memory is told that the lock is held',
    find: 'quarantineMs: closed[majority - 1] || undefined };',
    replace: 'quarantineMs: closed[votes.length] };',
    why: 'a night is skipped, and no event says why',
  },
  {
    ...claim,
    name: 'quorum: a try waits for a member that lost its memory',
    find: ' && closedMs(place) === 0;',
    replace: ';',
    why: 'a free lock is refused for a whole TTL after one member restarts',
  },
  {
    ...member,
    name: 'quorum: a release that failed is not repeated',
    find: 'this.#repeat({ ...claim, unanswered: true }, afterMs);',
    replace: '',
    why: 'a vote stands in the way until its TTL ends',
  },
  {
    ...vote,
    name: 'quorum: a vote that may still come is released like any other',
    find: 'return this.member.release(unanswered ? { ...claim, unanswered } : claim, keepsMs);',
    replace: 'return this.member.release(claim, keepsMs);',
    why: 'a vote that nobody counts stands in the way until its TTL ends',
  },
  {
    ...vote,
    name: 'quorum: a vote that was given back is asked for by the same id',
    find: 'this.#attempt++;',
    replace: '',
    why: 'the tombstone of the first answers, and the claim is lost',
  },
  {
    ...counting,
    name: 'quorum: the greatest life of all votes counts',
    find: '[majority - 1] ?? 0',
    replace: '[0] ?? 0',
    why: 'the lease outlives a majority of its votes',
  },
  {
    ...claim,
    name: 'quorum: the life counts from the replies',
    find: 'return this.#hold.prolong(startedAt, this.#livesUntil - startedAt);',
    replace: `const now = this.#parts.clock.now();
    const held = this.#hold.prolong(startedAt, Number.POSITIVE_INFINITY);
    const leftMs = Math.max(held.leftMs, this.#livesUntil - startedAt) + now - startedAt;
    return { ...held, leftMs };`,
    why: 'the lease outlives its votes by the time that the answers took',
  },
  {
    ...hold,
    name: 'quorum: nobody is raised',
    find: 'if (this.#raises && low.length > 0) {',
    replace: 'if (this.#raises && low.length > 99) {',
    why: 'a later holder gets a smaller token, and the fence lets the older one in',
  },
  {
    ...hold,
    name: 'quorum: a hold is granted although nobody confirmed the token',
    find: 'if (!raised()) await lift;\n      if (!raised()) return false;',
    replace: 'void lift;',
    why: 'a later holder gets a smaller token, and the fence lets the older one in',
  },
  {
    ...claim,
    name: 'quorum: votes are won back after the hold may have ended',
    find: 'if (vote.held && this.#hold.lapsed(this.#parts.clock.now())) vote.letGo();',
    replace: '',
    why: 'a hold comes back after another one, with a smaller token',
  },
  {
    ...claim,
    name: 'quorum: votes that are lost for good are doubt',
    find: "if (this.#quorum.count('held', 'unreachable') >= majority) return this.#fail();",
    replace: "if (this.#quorum.count('gone') < majority) return this.#fail();",
    why: 'a holder is told of its loss only at its deadline',
  },
  {
    ...claim,
    name: 'quorum: newcomers overtake those who wait',
    find: `if (this.#over) return OVER;
      if (place.standing === 'waiting') return this.#wait(place);`,
    replace: `if (this.#over) return OVER;
      if (place.standing === 'waiting' && !quorum.won) return this.#wait(place);`,
    why: 'whoever waits may wait for ever',
  },
  {
    ...claim,
    name: 'quorum: votes are kept without a majority',
    find: 'for (const vote of quorum.votes) if (!later || vote !== first) vote.letGo();',
    replace: '',
    why: 'who reaches a minority stands in the way of those who reach more',
  },
  {
    ...place,
    name: 'quorum: a silent room is waited for',
    find: 'const graceMs = Math.max(GRACE_MS, 2 * (clock.now() - since));',
    replace: 'const graceMs = 1_000_000;',
    why: 'one member that hangs delays every acquisition',
  },
  {
    ...index,
    name: 'quorum: permits are given',
    find: 'if (permits >= limit) return',
    replace: 'if (permits >= 1) return',
    why: 'three members give three of two permits',
  },
  {
    file: 'src/layers/quorum/member-store.ts',
    name: 'quorum: a batch crosses the parts of a member',
    find: 'partOf(this.store, claim.resource)}`;',
    replace: "''}`;",
    why: 'members that are clusters refuse it, or a primary that is away takes all votes with it',
  },
  {
    ...index,
    name: 'quorum: the lineage is the same whoever the members are',
    find: 'same ? first : digest().slice(0, 32)',
    replace: "same ? first : 'several'",
    why: 'tokens that do not compare are compared',
  },
];
