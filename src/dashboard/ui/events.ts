/** The events that the page has: which it keeps, and which of them are one line. */
import type { QueueEvent } from '../wire.ts';

const MAX_EVENTS = 2_000;

/** What happens to one resource within so many ms is one line; fixed, so that no event moves on. */
const SPAN_MS = 10_000;

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

/** The newest event of a line, and how many `before` it the line also stands for. */
type TimelineLine = QueueEvent & { readonly before: number };

/** The newest first. With `apart` each event is a line, as a loss or an eviction always is. */
export function linesOf(events: readonly QueueEvent[], apart: boolean): readonly TimelineLine[] {
  const lines = new Map<string, TimelineLine>();
  for (const event of [...events].reverse()) {
    const { id, at, name, what } = event;
    const alone = apart || what === 'lost' || what === 'evicted';
    const key = alone ? String(id) : `${Math.floor(at / SPAN_MS)} ${name}`;
    const line = lines.get(key);
    lines.set(key, line ? { ...line, before: line.before + 1 } : { ...event, before: 0 });
  }
  return [...lines.values()];
}
