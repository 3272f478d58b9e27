/** What the stream has brought. Rows are replaced and never changed, so a view may keep one. */
import type { BoardFrame, QueueEvent, QueueRow } from '../wire.ts';
import { merged } from './merged.ts';
import { retryMs } from './retry.ts';

/** One point a second, over as much as the figures beside it: a minute. */
const POINTS = 60;

type Shown = 'store' | 'readOnly' | 'away' | 'quarantineMs' | 'cut' | 'rates' | 'waits';

export interface PageView extends Pick<BoardFrame, Shown> {
  readonly rows: ReadonlyMap<string, QueueRow>;
  readonly events: readonly QueueEvent[];
  /** Grants in each of the last seconds that it has seen. */
  readonly points: readonly number[];
  /** All rows have been there since the stream began. */
  readonly isKnown: boolean;
  readonly link: 'loading' | 'live' | 'broken';
  /** Add it to the time of this machine to get that of the server. */
  readonly ahead: number;
}

const NONE: PageView = {
  ...{ rows: new Map(), events: [], waits: [], points: [], store: '', readOnly: true, cut: 0 },
  rates: { grants: 0, losses: 0, waitMs: null, handOffMs: null },
  ...{ away: null, quarantineMs: null, isKnown: false, link: 'loading', ahead: 0 },
};

export class Feed {
  view: PageView = NONE;
  readonly #changed: (view: PageView) => void;
  #second = 0;
  /** Refusals in a row. */
  #refusals = 0;

  constructor(changed: (view: PageView) => void) {
    this.#changed = changed;
    this.#connect();
  }

  #connect(): void {
    const source = new EventSource('events');
    // A new stream begins with everything.
    source.onopen = () => {
      this.#refusals = 0;
      this.#set({ ...NONE, points: this.view.points });
    };
    source.onmessage = ({ data }) => this.#take(JSON.parse(data) as BoardFrame);
    source.onerror = () => {
      this.#set({ ...this.view, link: 'broken' });
      if (source.readyState === EventSource.CLOSED) void this.#again();
    };
  }

  async #again(): Promise<void> {
    this.#refusals += 1;
    await new Promise((resolve) => setTimeout(resolve, retryMs(this.#refusals)));
    const answer = await fetch('./').catch(() => undefined);
    if (answer?.status === 401) location.reload();
    else this.#connect();
  }

  #take(frame: BoardFrame): void {
    const rows = new Map(this.view.rows);
    for (const name of frame.gone) rows.delete(name);
    for (const row of frame.rows) rows.set(row.name, row);
    for (const [name, ...ends] of frame.beats) {
      const row = rows.get(name);
      if (!row) continue;
      const seats = row.seats.map((seat, n) => ({ ...seat, endsAt: ends[n] ?? seat.endsAt }));
      rows.set(name, { ...row, seats });
    }
    const { now, rows: _, gone: __, beats: ___, told, more, ...shown } = frame;
    const known = new Set(this.view.events.map(({ id }) => id));
    const grants = told.filter(
      ({ id, what }) => (what === 'granted' || what === 'handed on') && !known.has(id),
    ).length;
    this.#set({
      ...shown,
      rows,
      events: told.length === 0 ? this.view.events : merged(this.view.events, told),
      // The first messages tell of more than a moment.
      points: this.view.link === 'live' ? this.#count(now, grants) : this.view.points,
      isKnown: this.view.isKnown || !more,
      link: more ? this.view.link : 'live',
      ahead: now - Date.now(),
    });
  }

  /** A point for each second. */
  #count(now: number, grants: number): readonly number[] {
    const { points } = this.view;
    const second = Math.floor(now / 1_000);
    const passed = points.length === 0 ? 1 : Math.min(POINTS, second - this.#second);
    this.#second = second;
    const all = [...points, ...Array<number>(Math.max(0, passed)).fill(0)].slice(-POINTS);
    return all.with(-1, (all.at(-1) ?? 0) + grants);
  }

  #set(view: PageView): void {
    this.view = view;
    this.#changed(view);
  }
}
