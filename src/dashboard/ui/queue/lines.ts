import type { QueueEvent } from '../../wire.ts';

/** What happens to one resource within so many ms is one line; fixed, so that no event moves on. */
const SPAN_MS = 10_000;

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
