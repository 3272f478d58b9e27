import type { Fault } from '../fault.ts';

const detecting = { file: 'src/operators/deadlocks/detect-deadlocks.ts' };
const graph = { file: 'src/operators/deadlocks/graph.ts' };
const notes = { file: 'src/operators/deadlocks/notes.ts' };
const ownWait = { file: 'src/operators/deadlocks/own-wait.ts' };
const holding = { file: 'src/operators/deadlocks/holding.ts' };

/** Deadlocks that are none, those that are not found, and what waits leave behind. */
export const DEADLOCK_FAULTS: readonly Fault[] = [
  {
    ...detecting,
    name: 'a deadlock is told before all have confirmed it',
    find: 'const agreed = isConfirmed(knot);',
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
    name: 'a look forgets the deadlock of a wait that has just run out',
    find: 'else if (place || !wait.cycle) this.#end(wait.acquisition);',
    replace: 'else this.#end(wait.acquisition);',
    why: 'at times the error of a wait does not tell of the deadlock that it was in',
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
  {
    ...notes,
    name: 'deadlocks: an older turn of a wait wins over its last one',
    find: 'note.turn < known.turn ?',
    replace: 'note.turn > known.turn ?',
    why: 'what a wait has confirmed is not seen while its older notes are still there',
  },
  {
    ...notes,
    name: 'deadlocks: of a change that is read half, one hold counts',
    find: 'if (older.sum !== last.sum) return last;',
    replace: 'if (older.turn !== last.turn) return last;',
    why: 'a verdict is delayed for as long as looks meet changes',
  },
  {
    ...notes,
    name: 'deadlocks: holds of an older turn count, although they have ended',
    find: 'if (older.sum !== last.sum) return last;',
    replace: '',
    why: 'a lock that was released before all confirmed is part of a deadlock that is none',
  },
  {
    ...graph,
    name: 'deadlocks: those that another deadlock holds up are one of their own',
    find: '|| stuckOf(knot).length < knot.length',
    replace: '',
    why: 'one of them is rejected, and the others get on no more than before',
  },
  {
    ...detecting,
    name: 'deadlocks: the youngest is rejected before all are told',
    find: 'agreed && isVictim && knot.every(({ told }) => told)',
    replace: 'agreed && isVictim',
    why: 'programs that look less often hear nothing of a deadlock that they were in',
  },
  {
    ...detecting,
    name: 'deadlocks: detection that is stopped gives a verdict all the same',
    find: 'place.waiter.settled || !this.#waits.has(wait.acquisition)',
    replace: 'place.waiter.settled',
    why: 'a program that has turned it off gets an event, or loses its work',
  },
  {
    ...ownWait,
    name: 'deadlocks: what a wait no longer holds is published',
    find: 'this.#leases.filter((lease) => lease.held).map(holdOf)',
    replace: 'this.#leases.map(holdOf)',
    why: 'people look for a deadlock with a lock that is free',
  },
  {
    ...ownWait,
    name: 'deadlocks: as many notes as holds are enough, whichever they are about',
    find: 'this.#posted.length === held.length && held.every(isPosted)',
    replace: 'this.#posted.length === held.length',
    why: 'a hold whose note was lost when another hold ended is never published again',
  },
  {
    file: 'src/jobs/refresh/refresh.ts',
    name: 'deadlocks: a refresh holds up locks of a caller that has left it',
    find: 'holding([], () => this.#fly())',
    replace: 'this.#fly()',
    why: 'work that goes on after its refresh ran out is in a deadlock that is none',
  },
  {
    file: 'src/operators/deadlocks/knots.ts',
    name: 'any deadlock near a lock is told of it',
    find: 'if (!stuckOf<PublishedWait>([...notes, asking]).includes(asking)) return [];',
    replace: '',
    why: 'an operator evicts the holder of a lock that will come free by itself',
  },
];
