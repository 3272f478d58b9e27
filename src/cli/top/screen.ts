import type { Queue } from '../../contract/store.ts';
import type { screen } from '../live.ts';
import { plain } from '../output.ts';
import { countsText, queueLines, summaryLines } from '../queue-view.ts';
import { membersOf, openQueue, queuesIn, selected, type TopView } from './view.ts';

/** A view of `top`. Fits into the screen: what is selected is always shown. */
export function screenLines(
  view: TopView,
  queues: readonly Queue[],
  { size, coloured }: { readonly size: ReturnType<typeof screen>; readonly coloured: boolean },
): readonly string[] {
  // Behind the mark of what is selected.
  const columns = size.columns - 2;
  const { heading, rows } = view.open
    ? queueParts(openQueue(view, queues), coloured, columns)
    : listParts(view, queues, columns);
  const chosen = selected(view, queues);
  const marked = rows.map((row, at) => `${at === chosen ? '>' : ' '} ${row}`);
  // The foot, an empty line above it, and the line in which the cursor stays.
  const room = Math.max(1, size.rows - heading.length - 3);
  const from = Math.max(0, Math.min(chosen - (room >> 1), rows.length - room));
  return [...heading, ...marked.slice(from, from + room), '', footOf(view).slice(1 - size.columns)];
}

function listParts(view: TopView, queues: readonly Queue[], columns: number) {
  const shown = queuesIn(view, queues);
  const filter = view.filter === '' ? '' : `, with "${plain(view.filter)}"`;
  const counts = `${countsText(shown)}${filter}; ${view.order}`;
  const [headings = '', ...rows] = summaryLines(shown, columns);
  return { heading: [counts.slice(0, columns), `  ${headings}`], rows };
}

function queueParts(queue: Queue, coloured: boolean, columns: number) {
  const lines = queueLines(queue, coloured, columns);
  const at = lines.length - membersOf(queue).length;
  return { heading: lines.slice(0, at), rows: lines.slice(at) };
}

function footOf({ typing, notice, open }: TopView): string {
  if (typing) {
    const { what, text, eviction } = typing;
    const { name = '', token } = eviction ?? {};
    const asks = {
      filter: 'Names with: ',
      reason: `Why is ${token} evicted? `,
      name: `Type ${plain(name)} to evict ${token}: `,
    };
    return asks[what] + plain(text);
  }
  if (notice) return plain(notice);
  if (open) return 'up, down: select   e: evict   Escape: back   q: quit';
  return 'up, down: select   Enter: show   /: filter   s: sort   q: quit';
}
