/** What a simulation must have been through: one that never gets into trouble proves nothing. */

/** Every one of these is reached by any 10,000 worlds in a row. */
export const REACHED: readonly string[] = [
  ...['world in the model', 'world out of the model'],
  ...['task: mutex', 'task: rw', 'task: semaphore', 'task: all', 'task: election'],
  ...['task: newest', 'replaced', 'lost: replaced'],
  ...['task: hand over', 'handed over', 'resumed', 'told that another has resumed it'],
  ...['fault: request lost', 'fault: answer lost', 'fault: late', 'fault: copied'],
  ...['fault: refused', 'fault: hint lost', 'fault: hint late', 'fault: partition'],
  ...['fault: pause', 'fault: crash', 'fault: restart', 'fault: data loss', 'fault: clock jump'],
  ...['fault: part away', 'fault: eviction', 'fault: eviction at once'],
  ...['acquired', 'local hand-off', 'hand-off by hint', 'entered again', 'downgraded', 'led'],
  'several in one step',
  ...['granted after an unknown outcome', 'late copy of a released claim', 'tombstone answered'],
  ...['late grant refused', 'quarantine waited out', 'unconfirmed', 'mismatch', 'abort'],
  ...['close', 'lost: expired', 'lost: stalled', 'lost: evicted', 'lost: store-reset'],
  ...['lost: max-hold', 'lost: closed'],
  ...['takeover: released', 'takeover: expired', 'takeover: evicted', 'takeover: handed-over'],
  ...['error: ACQUIRE_TIMEOUT', 'error: LEASE_LOST', 'error: QUEUE_FULL', 'error: STORE'],
  ...['error: CLOSED'],
  ...['fence: write accepted', 'fence: late write refused', 'fence: entry refused'],
  ...['out of the model: two holders', 'out of the model: belief past its end'],
];

/** So many worlds reach them all. */
export const ENOUGH_RUNS = 10_000;

/** What was never reached, although it should have been. */
export function unreached(runs: number, counts: Readonly<Record<string, number>>): string[] {
  return runs < ENOUGH_RUNS ? [] : REACHED.filter((what) => !counts[what]);
}
