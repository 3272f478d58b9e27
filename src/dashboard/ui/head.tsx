/** What stands above every view: the store, and the figures of the last minute. */
import type { ComponentChildren } from 'preact';
import { span } from '../../operators/span.ts';
import type { PageView } from './feed.ts';
import { age, waitingSince, whole } from './text.ts';

interface HeadProps {
  readonly view: PageView;
  readonly now: number;
  readonly paused: boolean;
  readonly children: ComponentChildren;
}

export function Head({ view, now, paused, children }: HeadProps) {
  const { store, readOnly, away, link } = view;
  const state = paused ? 'paused' : link === 'broken' ? 'broken' : away ? 'away' : link;
  return (
    <header class="head">
      <h1>Holdfast</h1>
      <span class={`state ${state}`} role="status">
        {WORDS[state]} {store && state !== 'broken' && `· ${store}`}
      </span>
      {readOnly && view.link !== 'loading' && <small>read-only</small>}
      {children}
      <Figures view={view} now={now} />
    </header>
  );
}

const WORDS = {
  live: 'Live',
  loading: 'Loading',
  paused: 'Paused',
  away: 'Store away',
  broken: 'Disconnected',
};

function Figures({ view, now }: Pick<HeadProps, 'view' | 'now'>) {
  const { rows, rates } = view;
  const isKnown = view.isKnown && (rows.size > 0 || !view.away);
  let [holding, waiting, since] = [0, 0, now];
  for (const row of rows.values()) {
    holding += row.holding;
    waiting += row.election ? 0 : row.waiting;
    since = Math.min(since, waitingSince(row) ?? now);
  }
  const known = (n: number): string => (isKnown ? whole(n) : '–');
  const figures = {
    'In use': known(rows.size),
    Holding: known(holding),
    Waiting: known(waiting),
    'Longest wait': waiting > 0 ? age(now - since) : '–',
    'Grants a minute': whole(rates.grants),
    'Median wait': rates.waitMs === null ? '–' : span(rates.waitMs),
    ...(rates.handOffMs !== null && { 'Hand-off here': `${rates.handOffMs.toFixed(1)} ms` }),
    ...(rates.losses > 0 && { 'Losses here': whole(rates.losses) }),
  };
  return (
    <dl class="figures">
      {Object.entries(figures).map(([name, figure]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{figure}</dd>
        </div>
      ))}
    </dl>
  );
}
