/** The page: what is chosen, searched and paused, and the keys. */
import { render } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { span } from '../../operators/span.ts';
import type { QueueRow, Seat } from '../wire.ts';
import './app.css';
import { Feed, type PageView } from './feed.ts';
import { Graph } from './graph/graph.tsx';
import { Head } from './head.tsx';
import { Help, useKeys } from './keys.tsx';
import { Details } from './queue/details.tsx';
import { Evict } from './queue/evict.tsx';
import { List } from './queue/list.tsx';
import { Timeline } from './queue/timeline.tsx';
import { type Filter, isOf, mentions, waitingSince } from './text.ts';
import { Tools, type ViewName } from './tools.tsx';

/** How often ages are drawn anew, in ms. */
const TICK_MS = 1_000;

function App() {
  const feed = useRef<Feed | null>(null);
  const [live, setLive] = useState<PageView>();
  const [held, setHeld] = useState<{ readonly view: PageView; readonly now: number }>();
  const [time, setTime] = useState(Date.now());
  const [viewName, setViewName] = useState<ViewName>('queues');
  const [words, setWords] = useState('');
  const [filter, setFilter] = useState<Filter>('all');
  const [chosen, setChosen] = useState<string | null>(null);
  const [evicting, setEvicting] = useState<{ readonly name: string; readonly seat: Seat }>();
  const [helps, setHelps] = useState(false);
  const search = useRef<HTMLInputElement>(null);

  useEffect(() => {
    feed.current ??= new Feed(setLive);
    const tick = setInterval(() => setTime(Date.now()), TICK_MS);
    return () => clearInterval(tick);
  }, []);

  const view = held?.view ?? live;
  const now = held?.now ?? Math.max(time, Date.now()) + (live?.ahead ?? 0);
  const wanted = words.toLowerCase();
  const rows = useMemo(
    () => (view ? shownOf(view.rows, filter, wanted) : []),
    [view?.rows, filter, wanted],
  );
  const events = view?.events.filter(({ name }) => name.toLowerCase().includes(wanted));
  const pause = (): void => setHeld(held || !live ? undefined : { view: live, now });
  const move = (by: number): void => {
    const at = rows.findIndex(({ name }) => name === chosen);
    const next = rows[Math.max(0, Math.min(rows.length - 1, at + by))];
    if (next) setChosen(next.name);
  };
  useKeys({
    j: () => move(1),
    ArrowDown: () => move(1),
    k: () => move(-1),
    ArrowUp: () => move(-1),
    '/': () => search.current?.focus(),
    p: pause,
    q: () => setViewName('queues'),
    g: () => setViewName('graph'),
    t: () => setViewName('timeline'),
    Enter: () => move(chosen === null ? 1 : 0),
    Escape: () =>
      words && document.activeElement === search.current ? setWords('') : setChosen(null),
    '?': () => setHelps(true),
  });

  if (!view) return <p class="empty">Connecting…</p>;
  const open = chosen !== null;
  return (
    <div class={`app ${held ? 'paused' : ''} ${open ? 'open' : ''}`}>
      <Head view={view} now={now} paused={held !== undefined}>
        <span class="buttons">
          <button type="button" aria-pressed={held !== undefined} onClick={pause}>
            {held ? 'Resume' : 'Pause'}
          </button>
          <button type="button" aria-label="Keys" onClick={() => setHelps(true)}>
            ?
          </button>
        </span>
      </Head>
      <Tools
        {...{ search, words, setWords, filter, setFilter, viewName, setViewName }}
        shown={rows.length}
      />
      {view.quarantineMs !== null && (
        <p class="warning">
          The store is new or has lost its data, and grants nothing for another{' '}
          {span(view.quarantineMs)}.
        </p>
      )}
      {view.away && <p class="warning">The store does not reply: {view.away}</p>}
      <main>
        <div class="view">
          {viewName === 'timeline' && (
            <section class="scrolls" aria-label="Timeline">
              <Timeline events={events ?? []} named choose={setChosen} />
            </section>
          )}
          {viewName !== 'timeline' && rows.length === 0 && (
            <Nothing view={view} words={words} choose={setChosen} />
          )}
          {viewName === 'graph' && rows.length > 0 && (
            <Graph rows={rows} waits={view.waits} choose={setChosen} />
          )}
          {viewName === 'queues' && rows.length > 0 && (
            <List rows={rows} chosen={chosen} now={now} choose={setChosen} />
          )}
          {view.cut > 0 && <p class="hint">{view.cut} more resources are not shown.</p>}
        </div>
        {chosen !== null && (
          <Details
            key={chosen}
            name={chosen}
            row={view.rows.get(chosen)}
            {...{ events: view.events, now, readOnly: view.readOnly }}
            close={() => setChosen(null)}
            evict={(seat) => setEvicting({ name: chosen, seat })}
          />
        )}
      </main>
      {evicting && <Evict {...evicting} close={() => setEvicting(undefined)} />}
      {helps && <Help close={() => setHelps(false)} />}
    </div>
  );
}

interface NothingProps {
  readonly view: PageView;
  readonly words: string;
  readonly choose: (name: string) => void;
}

function Nothing({ view, words, choose }: NothingProps) {
  if (view.link === 'loading' && !view.away) return <p class="empty">Looking at the store…</p>;
  if (view.rows.size === 0 && (view.away || !view.isKnown)) {
    return <p class="empty">It is not known what is held.</p>;
  }
  if (view.rows.size === 0 && !words) return <p class="empty">No lock is held or waited for.</p>;
  return (
    <p class="empty">
      Nothing matches.{' '}
      {words.startsWith('once:') && (
        <button type="button" class="link" onClick={() => choose(words)}>
          Is <bdi>{words}</bdi> done?
        </button>
      )}
    </p>
  );
}

/** The longest wait first, then the longest hold: as `holdfast top`. */
function shownOf(
  rows: ReadonlyMap<string, QueueRow>,
  filter: Filter,
  wanted: string,
): readonly QueueRow[] {
  const last = Number.MAX_SAFE_INTEGER;
  const heldSince = ({ seats }: QueueRow): number =>
    seats.find(({ holds }) => holds)?.since ?? last;
  return [...rows.values()]
    .filter((row) => isOf(filter, row) && (wanted === '' || mentions(row, wanted)))
    .map((row) => ({ row, waits: waitingSince(row) ?? last, holds: heldSince(row) }))
    .sort((a, b) => a.waits - b.waits || a.holds - b.holds || (a.row.name < b.row.name ? -1 : 1))
    .map(({ row }) => row);
}

const root = document.getElementById('app');
if (root) render(<App />, root);
