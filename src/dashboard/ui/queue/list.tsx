/** The resources in use. Only the rows that are seen are in the page, however many there are. */
import { useEffect, useRef, useState } from 'preact/hooks';
import type { QueueRow } from '../../wire.ts';
import { age, kindText, rowText, waitingSince } from '../text.ts';
import { Bar, Who } from './seat.tsx';

/** The height of a row, as in app.css. */
const ROW = 56;

/** Rows above and below what is seen, so that scrolling shows no gaps. */
const SPARE = 6;

interface ListProps {
  readonly rows: readonly QueueRow[];
  readonly chosen: string | null;
  readonly now: number;
  readonly choose: (name: string) => void;
}

export function List({ rows, chosen, now, choose }: ListProps) {
  const box = useRef<HTMLDivElement>(null);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(800);
  useEffect(() => {
    const seen = new ResizeObserver(() => setHeight(box.current?.clientHeight ?? 800));
    if (box.current) seen.observe(box.current);
    return () => seen.disconnect();
  }, []);
  const at = rows.findIndex(({ name }) => name === chosen);
  useEffect(() => {
    const { current } = box;
    if (!current || at < 0) return;
    const [first, last] = [at * ROW, (at + 1) * ROW];
    if (first < current.scrollTop) current.scrollTop = first;
    if (last > current.scrollTop + current.clientHeight) {
      current.scrollTop = last - current.clientHeight;
    }
    // A row that moves because others come and go does not scroll the list.
  }, [chosen]);
  const from = Math.max(0, Math.floor(top / ROW) - SPARE);
  const shown = rows.slice(from, from + Math.ceil(height / ROW) + 2 * SPARE);
  return (
    <>
      <div class="columns" aria-hidden="true">
        <span>Resource</span>
        <span>Held by</span>
        <span class="figure">Held for</span>
        <span class="figure">Waiting</span>
      </div>
      <div
        class="list"
        ref={box}
        role="listbox"
        aria-label="Resources in use"
        aria-activedescendant={at >= from && at < from + shown.length ? `row-${at}` : undefined}
        tabIndex={0}
        onScroll={({ currentTarget }) => setTop(currentTarget.scrollTop)}
      >
        <div style={{ height: `${rows.length * ROW}px` }}>
          {shown.map((row, n) => (
            // biome-ignore lint/a11y/useKeyWithClickEvents: the keys are those of the whole page.
            <div
              key={row.name}
              id={`row-${from + n}`}
              class="row"
              role="option"
              tabIndex={-1}
              aria-selected={row.name === chosen}
              aria-setsize={rows.length}
              aria-posinset={from + n + 1}
              style={{ transform: `translateY(${(from + n) * ROW}px)` }}
              onClick={() => choose(row.name)}
            >
              <div class="cells" aria-hidden="true">
                <Cells row={row} now={now} />
              </div>
              <span class="spoken">{rowText(row, now)}</span>
            </div>
          ))}
        </div>
      </div>
    </>
  );
}

function Cells({ row, now }: { readonly row: QueueRow; readonly now: number }) {
  const holder = row.seats.find(({ holds }) => holds);
  const since = waitingSince(row);
  return (
    <>
      <span class="what">
        <bdi class="name">{row.name}</bdi>
        <small>{kindText(row)}</small>
      </span>
      <span class="who">
        {holder ? (
          <>
            <Who who={holder}>{row.holding > 1 && `, ${row.holding - 1} more`}</Who>
            <Bar seat={holder} now={now} />
          </>
        ) : (
          <small>not held</small>
        )}
      </span>
      <span class="figure">{holder ? age(now - holder.since) : ''}</span>
      <span class={`figure ${since === undefined ? 'none' : ''}`}>
        {!row.election && row.waiting}
        <small>{row.election ? `${row.waiting} stand by` : since && age(now - since)}</small>
      </span>
    </>
  );
}
