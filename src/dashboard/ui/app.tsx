/** The page: its address, what is paused, and the keys. */
import { render } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { span } from '../../operators/span.ts';
import type { Seat } from '../wire.ts';
import './app.css';
import { addressIn, hashOf, type PageAddress, VIEWS } from './address.ts';
import { Busiest, type ViewProps } from './busiest.tsx';
import { follow, type PageView } from './feed.ts';
import { Graph } from './graph/graph.tsx';
import { Head } from './head.tsx';
import { Help, useKeys } from './keys.tsx';
import { listed } from './order.ts';
import { Details } from './queue/details.tsx';
import { Evict } from './queue/evict.tsx';
import { List } from './queue/list.tsx';
import { Timeline } from './queue/timeline.tsx';
import { clockTime } from './text.ts';
import { Tools } from './tools.tsx';

/** How often ages are drawn anew, in ms. */
const TICK_MS = 1_000;

/** The address, and the way to change it; with Back, a person closes what was opened. */
function useAddress() {
  const [address, setAddress] = useState(() => addressIn(location.hash));
  useEffect(() => addEventListener('popstate', () => setAddress(addressIn(location.hash))), []);
  const go = (change: Partial<PageAddress>): void => {
    const next = { ...address, ...change };
    const opens = next.view !== address.view || (next.name === null) !== (address.name === null);
    history[opens ? 'pushState' : 'replaceState'](null, '', hashOf(next));
    setAddress(next);
  };
  return [address, go] as const;
}

function App() {
  const [live, setLive] = useState<PageView>();
  const [held, setHeld] = useState<{ readonly view: PageView; readonly now: number }>();
  const [time, setTime] = useState(Date.now());
  const [address, go] = useAddress();
  const [evicting, setEvicting] = useState<{ readonly name: string; readonly seat: Seat }>();
  const [helps, setHelps] = useState(false);
  const search = useRef<HTMLInputElement>(null);

  useEffect(() => {
    follow(setLive);
    const tick = setInterval(() => setTime(Date.now()), TICK_MS);
    return () => clearInterval(tick);
  }, []);

  const view = held?.view ?? live;
  const stale = live !== undefined && (live.link === 'broken' || live.away !== null);
  // What may have ended meanwhile grows no older.
  const now = held?.now ?? (stale ? live.seenAt : Math.max(time, Date.now()) + (live?.ahead ?? 0));
  const { view: viewName, search: words, kind, order, name: chosen } = address;
  const rows = useMemo(
    () => listed(view?.rows.values() ?? [], address),
    [view?.rows, kind, words, order],
  );
  const choose = (name: string | null): void => go({ name });
  const pause = (): void => setHeld(held || !live ? undefined : { view: live, now });
  const move = (by: number): void => {
    const at = rows.findIndex(({ name }) => name === chosen);
    const next = rows[Math.max(0, Math.min(rows.length - 1, at + by))];
    if (next) choose(next.name);
  };
  useKeys({
    j: () => move(1),
    ArrowDown: () => move(1),
    k: () => move(-1),
    ArrowUp: () => move(-1),
    '/': () => search.current?.focus(),
    p: pause,
    q: () => go({ view: 'queues' }),
    g: () => go({ view: 'graph' }),
    t: () => go({ view: 'timeline' }),
    b: () => go({ view: 'busiest' }),
    Enter: () => move(chosen === null ? 1 : 0),
    Escape: () =>
      words && document.activeElement === search.current ? go({ search: '' }) : choose(null),
    '?': () => setHelps(true),
  });

  if (!view) return <p class="empty">Connecting…</p>;
  const states = [(held || stale) && 'paused', stale && 'stale', chosen !== null && 'open'];
  const isPast = viewName === 'timeline' || viewName === 'busiest';
  const events = view.events.filter(({ name }) => name.toLowerCase().includes(words.toLowerCase()));
  return (
    <div class={`app ${states.filter(Boolean).join(' ')}`}>
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
      <Tools {...{ search, address, go }} shown={rows.length} all={view.rows.size + view.cut} />
      {view.quarantineMs !== null && (
        <section class="warning" aria-label="No grants">
          The store is new or has lost its data, and grants nothing for another{' '}
          {span(view.quarantineMs)}.
        </section>
      )}
      {stale && (
        <p class="warning" role="alert">
          {live.away ? `The store does not reply: ${live.away}` : 'The dashboard does not reply.'}
          {live.rows.size > 0 && ` Below is what was so at ${clockTime(live.seenAt)}.`}
        </p>
      )}
      <main>
        <div class="view">
          {isPast && (
            <section class="scrolls" aria-label={VIEWS[viewName]} {...{ tabIndex: 0 }}>
              {viewName === 'timeline' && <Timeline events={events} choose={choose} />}
              {viewName === 'busiest' && <Busiest {...{ view, words, choose }} />}
            </section>
          )}
          {!isPast && rows.length === 0 && <Nothing view={view} words={words} choose={choose} />}
          {viewName === 'graph' && rows.length > 0 && (
            <Graph rows={rows} waits={view.waits} choose={choose} />
          )}
          {viewName === 'queues' && rows.length > 0 && (
            <List rows={rows} chosen={chosen} now={now} choose={choose} />
          )}
        </div>
        {chosen !== null && (
          <Details
            key={chosen}
            name={chosen}
            row={view.rows.get(chosen)}
            {...{ events: view.events, now, readOnly: view.readOnly }}
            close={() => choose(null)}
            evict={(seat) => setEvicting({ name: chosen, seat })}
          />
        )}
      </main>
      {evicting && <Evict {...evicting} close={() => setEvicting(undefined)} />}
      {helps && <Help close={() => setHelps(false)} />}
    </div>
  );
}

function Nothing({ view, words, choose }: ViewProps) {
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

const root = document.getElementById('app');
if (root) render(<App />, root);
