import { type Faults, inTest } from '../fault.ts';

const bid = { file: 'src/layers/quorum/quorum-claim.ts' };
const hold = { file: 'src/layers/quorum/hold.ts' };

const QUORUM = 'test/layers/quorum/quorum.test.ts';

/** Votes of several stores. */
export const QUORUM_FAULTS: Faults = {
  'quorum: half of the members make a majority': {
    file: 'src/layers/quorum/votes.ts',
    find: 'return Math.floor(members / 2) + 1;',
    replace: 'return Math.floor(members / 2);',
    why: 'two hold at a time',
    by: inTest(
      QUORUM,
      'a member that does not answer',
      'if there is a majority of such, is an error that may pass',
    ),
  },
  'quorum: the greatest life of all votes counts': {
    file: 'src/layers/quorum/counting.ts',
    find: '[majority - 1] ?? 0',
    replace: '[0] ?? 0',
    why: 'the lease outlives a majority of its votes',
    by: inTest(QUORUM, 'a hold', 'lasts as long as the least life in the best majority'),
  },
  'quorum: the life counts from the replies': {
    ...bid,
    find: 'return this.#hold.prolong(startedAt, this.#livesUntil - startedAt);',
    replace: `const now = this.#parts.clock.now();
    const held = this.#hold.prolong(startedAt, Number.POSITIVE_INFINITY);
    const leftMs = Math.max(held.leftMs, this.#livesUntil - startedAt) + now - startedAt;
    return { ...held, leftMs };`,
    why: 'the lease outlives its votes by the time that the answers took',
    by: inTest(QUORUM, 'a hold', 'lasts as long as the least life in the best majority'),
  },
  'quorum: nobody is raised': {
    ...hold,
    find: 'if (this.#raises && low.length > 0) {',
    replace: 'if (this.#raises && low.length > 99) {',
    why: 'a later holder gets a smaller token, and the fence lets the older one in',
    by: inTest(
      QUORUM,
      'a token',
      'grows although one majority shares a single member with the other',
    ),
  },
  'quorum: a hold is granted although nobody confirmed the token': {
    ...hold,
    find: 'if (!raised()) await lift;\n      if (!raised()) return false;',
    replace: 'void lift;',
    why: 'a later holder gets a smaller token, and the fence lets the older one in',
    by: inTest(
      'test/layers/quorum/simulation.test.ts',
      '3 members, 3 clients, losses of memory: false',
      'one holds at a time, tokens grow, and everybody gets on: seed 17',
    ),
  },
  'quorum: votes are won back after the hold may have ended': {
    ...bid,
    find: 'if (vote.held && this.#hold.lapsed(this.#parts.clock.now())) vote.letGo();',
    replace: '',
    why: 'a hold comes back after another one, with a smaller token',
    by: inTest(QUORUM, 'a hold', 'wins nothing back after it may have ended'),
  },
};
