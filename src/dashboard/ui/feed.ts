/** What the stream has brought. Rows are replaced and never changed, so a view may keep one. */
import type { BoardFrame, QueueEvent, QueueRow } from '../wire.ts';
import { merged } from './events.ts';

/** Until a stream that the server refused is asked for again, in ms. */
const RETRY_MS = 5_000;

type Shown = 'store' | 'readOnly' | 'away' | 'quarantineMs' | 'cut' | 'rates' | 'waits';

export interface PageView extends Pick<BoardFrame, Shown> {
  readonly rows: ReadonlyMap<string, QueueRow>;
  readonly events: readonly QueueEvent[];
  /** All rows have been there since the stream began. */
  readonly isKnown: boolean;
  readonly link: 'loading' | 'live' | 'broken';
  /** Add it to the time of this machine to get that of the server. */
  readonly ahead: number;
  /** When the store last replied, by the time of the server. */
  readonly seenAt: number;
}

const NONE: PageView = {
  ...{ rows: new Map(), events: [], waits: [], store: '', readOnly: true, cut: 0 },
  rates: { grants: 0, losses: 0, waitMs: null, handOffMs: null, busiest: [] },
  ...{ away: null, quarantineMs: null, isKnown: false, link: 'loading', ahead: 0, seenAt: 0 },
};

/** Follows the stream for as long as the page is open, and shows what it brings. */
export function follow(show: (view: PageView) => void): void {
  let view = NONE;
  let quiet = 0;
  const set = (next: PageView): void => {
    view = next;
    show(view);
  };
  const connect = (): void => {
    const source = new EventSource('events');
    // A new stream begins with everything.
    source.onopen = () => set(NONE);
    source.onmessage = ({ data }) => {
      const frame = JSON.parse(data) as BoardFrame;
      set(after(view, frame));
      // A connection may die without a word.
      clearTimeout(quiet);
      quiet = setTimeout(() => set({ ...view, link: 'broken' }), frame.quietMs);
    };
    source.onerror = () => {
      set({ ...view, link: 'broken' });
      if (source.readyState === EventSource.CLOSED) setTimeout(again, RETRY_MS);
    };
  };
  const again = async (): Promise<void> => {
    const answer = await fetch('./').catch(() => undefined);
    if (answer?.status === 401) location.reload();
    else connect();
  };
  connect();
}

function after(view: PageView, frame: BoardFrame): PageView {
  const rows = new Map(view.rows);
  for (const name of frame.gone) rows.delete(name);
  for (const row of frame.rows) rows.set(row.name, row);
  for (const [name, ...ends] of frame.beats) {
    const row = rows.get(name);
    if (!row) continue;
    const seats = row.seats.map((seat, n) => ({ ...seat, endsAt: ends[n] ?? seat.endsAt }));
    rows.set(name, { ...row, seats });
  }
  const { now, rows: _, gone: __, beats: ___, told, more, quietMs: ____, ...shown } = frame;
  return {
    ...shown,
    rows,
    events: told.length === 0 ? view.events : merged(view.events, told),
    isKnown: view.isKnown || !more,
    link: more ? view.link : 'live',
    ahead: now - Date.now(),
    seenAt: frame.away === null ? now : view.seenAt,
  };
}
