/** One resource: its queue in order, and its timeline. */
import { useEffect, useState } from 'preact/hooks';
import { span } from '../../../operators/span.ts';
import type { DoneRecord, QueueEvent, QueueRow, Seat } from '../../wire.ts';
import { age, dateTime, kindText } from '../text.ts';
import { Bar, Who } from './seat.tsx';
import { Timeline } from './timeline.tsx';

interface DetailsProps {
  readonly name: string;
  readonly row: QueueRow | undefined;
  readonly events: readonly QueueEvent[];
  readonly now: number;
  readonly readOnly: boolean;
  readonly close: () => void;
  readonly evict: (seat: Seat) => void;
}

export function Details({ name, row, events, now, readOnly, close, evict }: DetailsProps) {
  const holders = row?.seats.filter(({ holds }) => holds) ?? [];
  const waiters = row?.seats.filter(({ holds }) => !holds) ?? [];
  const seat = (each: Seat) => (
    <Place key={each.token} seat={each} now={now} evict={readOnly ? undefined : evict} />
  );
  const more = row ? row.holding + row.waiting - row.seats.length : 0;
  return (
    <section class="details" aria-label="Details">
      <header>
        <h2>
          <bdi class="name">{name}</bdi>
          <small>{row ? kindText(row) : 'not in use'}</small>
        </h2>
        <button type="button" aria-label="Close" onClick={close}>
          ✕
        </button>
      </header>
      <section class="scrolls" aria-label="Queue" {...{ tabIndex: 0 }}>
        {name.startsWith('once:') && <Done key={name} name={name} inUse={row !== undefined} />}
        <h3>
          {row?.election ? 'Leads' : 'Holds'} <small>{row?.holding ?? 0}</small>
        </h3>
        <ol class="queue">{holders.map(seat)}</ol>
        <h3>
          {row?.election ? 'Stands by' : 'Waits'}, in order <small>{row?.waiting ?? 0}</small>
        </h3>
        <ol class="queue waiting">{waiters.map(seat)}</ol>
        {more > 0 && <p class="hint">and {more} more</p>}
        <h3>Timeline</h3>
        <Timeline events={events.filter((each) => each.name === name)} />
      </section>
    </section>
  );
}

interface PlaceProps {
  readonly seat: Seat;
  readonly now: number;
  readonly evict: ((seat: Seat) => void) | undefined;
}

function Place({ seat, now, evict }: PlaceProps) {
  const { kind, permits, inTransit, since, ttlMs, endsAt, token } = seat;
  const beat = Math.max(0, now - (endsAt - ttlMs));
  return (
    <li class="place">
      <Who who={seat} />
      <span class="figure" title={dateTime(since)}>
        {age(now - since)}
      </span>
      <Bar seat={seat} now={now} />
      <small class="facts">
        {kind === 'mutex' ? '' : `${kind === 'permits' ? `${permits} permits` : kind} · `}
        {inTransit ? 'handed over, in transit · ' : ''}
        {span(endsAt - now)} left · heartbeat {span(beat)} ago · token <code>{token}</code>
      </small>
      {evict && (
        <button type="button" class="evict" onClick={() => evict(seat)}>
          Evict
        </button>
      )}
    </li>
  );
}

/** Whether the work of a key of `once` is done. Running work shows as the holder. */
function Done({ name, inUse }: { readonly name: string; readonly inUse: boolean }) {
  const [record, setRecord] = useState<DoneRecord | null | undefined>(undefined);
  // `inUse`: asked again when the work has ended.
  useEffect(() => {
    const question = new AbortController();
    fetch(`record?name=${encodeURIComponent(name)}`, { signal: question.signal })
      .then(async (answer) => setRecord(answer.ok ? await answer.json() : null))
      .catch(() => {});
    return () => question.abort();
  }, [name, inUse]);
  if (record === undefined) return null;
  if (record === null) return <p class="hint">Not done yet, or its record has ended.</p>;
  return (
    <p class="hint">
      Done by <Who who={record} />; remembered for another {span(record.leftMs)}.
    </p>
  );
}
