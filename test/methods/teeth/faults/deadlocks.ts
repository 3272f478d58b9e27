import type { Fault } from '../fault.ts';

const detecting = { file: 'src/operators/deadlocks/detect-deadlocks.ts' };
const graph = { file: 'src/operators/deadlocks/graph.ts' };
const ownWait = { file: 'src/operators/deadlocks/own-wait.ts' };
const holding = { file: 'src/operators/deadlocks/holding.ts' };

/** Deadlocks that are none, those that are not found, and what waits leave behind. */
export const DEADLOCK_FAULTS: readonly Fault[] = [
  {
    ...detecting,
    name: 'a deadlock is told before all have confirmed it',
    find: 'const agreed = knot.every((note) => note.knot === wait.knot);',
    replace: 'const agreed = knot.length > 0;',
    why: 'a wait that another has just left is told, and rejected, as a deadlock',
  },
  {
    ...detecting,
    name: 'a standby of an election counts as a wait',
    find: 'place && !place.waiter.options.standby && wait.holds',
    replace: 'place && wait.holds',
    why: 'a program that stands by under a lock is in a deadlock with the leader',
  },
  {
    ...detecting,
    name: 'all of a deadlock are rejected',
    find: 'const isVictim = victim?.id === wait.id;',
    replace: 'const isVictim = victim !== undefined;',
    why: 'all the work is thrown away where that of one would do',
  },
  {
    ...graph,
    name: 'permits of which one may come free count as all taken',
    find: 'sum + each, permits) > limit',
    replace: 'sum + each, permits) >= limit',
    why: 'a wait that ends by itself is rejected as a deadlock',
  },
  {
    ...graph,
    name: 'the oldest of a deadlock is the victim',
    find: 'wait.holder.since > most.holder.since)',
    replace: 'wait.holder.since < most.holder.since)',
    why: 'who tries again is older than nobody, and the one that has waited longest never gets on',
  },
  {
    ...ownWait,
    name: 'a wait that is over leaves its notes behind',
    find: 'void claim.release();\n      settle();',
    replace: 'settle();',
    why: 'programs show waits that are over, and find deadlocks with them',
  },
  {
    ...ownWait,
    name: 'each wait under a lock is published at once',
    find: 'this.dueAt = this.began + parts.afterMs;',
    replace: 'this.dueAt = this.began;',
    why: 'every nested lock costs requests, although it is free in a moment',
  },
  {
    ...holding,
    name: 'what holding() leaves out counts all the same',
    find: 'frame && frame !== around;',
    replace: 'frame;',
    why: 'work that nothing waits for is in a deadlock that is none',
  },
  {
    file: 'src/operators/deadlocks/detect-deadlocks.ts',
    name: 'deadlocks: all waits share one look, whose reads end too early',
    find: '.slice(0, AT_ONCE)',
    replace: '.slice(0)',
    why: 'where hundreds wait, a deadlock is never found',
  },
];
