/** What happened, the newest first. */
import type { QueueEvent } from '../../wire.ts';
import { linesOf } from '../events.ts';
import { clockTime, dateTime } from '../text.ts';

const MAX_LINES = 200;

/** Anything older, in ms, has its date. */
const DATED_MS = 12 * 3_600_000;

interface TimelineProps {
  readonly events: readonly QueueEvent[];
  /** With it, they are of all resources and show their names: several events may be one line. */
  readonly choose?: (name: string) => void;
}

export function Timeline({ events, choose }: TimelineProps) {
  if (events.length === 0) return <p class="hint">Nothing has happened since this page opened.</p>;
  const lines = linesOf(events, !choose).slice(0, MAX_LINES);
  return (
    <ol class="timeline">
      {lines.map(({ id, at, name, what, who, detail, before }) => (
        <li key={id} class={classOf(what)}>
          <time>{Date.now() - at < DATED_MS ? clockTime(at) : dateTime(at)}</time>
          <span class="event">{what}</span>
          {choose && (
            <button type="button" class="link name" onClick={() => choose(name)}>
              <bdi>{name}</bdi>
            </button>
          )}
          <span class="by">
            {who && <bdi>{who}</bdi>}
            {detail && (
              <small>
                <bdi>{detail}</bdi>
              </small>
            )}
            {what === 'gone' && !detail && <small>it is not known why</small>}
            {before > 0 && <small>and {before} more within seconds</small>}
          </span>
        </li>
      ))}
    </ol>
  );
}

function classOf(what: QueueEvent['what']): string {
  if (what === 'lost' || what === 'evicted') return 'bad';
  return what === 'granted' || what === 'handed on' || what === 'resumed' ? 'good' : '';
}
