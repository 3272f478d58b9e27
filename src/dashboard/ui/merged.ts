import type { QueueEvent } from '../wire.ts';

const MAX_EVENTS = 2_000;

/**
 * The newest lines, in the order in which things happened, not in which they came; of lines with
 * the same id, the one that came last.
 */
export function merged(
  known: readonly QueueEvent[],
  added: readonly QueueEvent[],
): readonly QueueEvent[] {
  const byId = new Map([...known, ...added].map((line) => [line.id, line] as const));
  return [...byId.values()].sort((a, b) => a.at - b.at).slice(-MAX_EVENTS);
}
