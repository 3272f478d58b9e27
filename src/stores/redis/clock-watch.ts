/**
 * Notices when a server's clock jumps: forward, claims end before their time, and only a fence
 * keeps two holders apart; back, claims outlive their holders.
 *
 * A reply gives the server's time at some moment between sending and receiving, so the difference
 * of the clocks lies in an interval. If the intervals of two successive replies lie further apart
 * than clocks of different rates explain, one of the clocks has jumped, and ours is monotonic.
 */
import type { Clock } from '../../base/clock.ts';

/** Smaller jumps, in ms, are ordinary corrections; the margins make them harmless. */
const JUMP_MS = 100;

/** What clocks may gain on each other, as a share: more than any real clock does. */
const RATE = 0.01;

/**
 * Takes replies to what was sent at `sentAt`, and calls `jumped` where one shows that; each
 * `server` has a clock of its own.
 */
export function clockWatch(
  clock: Clock,
  jumped: (ms: number) => void,
): (server: string, serverMs: number, sentAt: number) => void {
  const sights = new Map<string, Readonly<Record<'at' | 'least' | 'most', number>>>();
  return (server, serverMs, sentAt) => {
    const at = clock.now();
    const sight = { at, least: serverMs - at, most: serverMs + 1 - sentAt };
    const last = sights.get(server);
    sights.set(server, sight);
    if (!last) return;
    const slack = JUMP_MS + (at - last.at) * RATE;
    if (sight.least > last.most + slack) jumped(sight.least - last.most);
    else if (sight.most < last.least - slack) jumped(sight.most - last.least);
  };
}
