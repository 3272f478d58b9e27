/** How a claim is drawn: whose it is, and how much time it has left. */
import type { ComponentChildren } from 'preact';
import { useMemo } from 'preact/hooks';
import type { Who as Process, Seat } from '../../wire.ts';
import { placeOf } from '../text.ts';

interface WhoProps {
  readonly who: Process;
  readonly children?: ComponentChildren;
}

/** In the same order everywhere: label, host, pid. */
export function Who({ who, children }: WhoProps) {
  return (
    <span class="one-line">
      <bdi>{who.label ?? placeOf(who)}</bdi>
      <small>
        {who.label && <bdi>{placeOf(who)}</bdi>}
        {children}
      </small>
    </span>
  );
}

/** A bar that runs down, and begins anew at each heartbeat. */
export function Bar({ seat, now }: { readonly seat: Seat; readonly now: number }) {
  const { endsAt, ttlMs } = seat;
  // Once for each heartbeat: a style that changes would begin again in the middle.
  // So `now` is that of the first drawing.
  const style = useMemo(() => {
    const left = Math.max(0, endsAt - now);
    return { '--from': `${Math.min(1, left / ttlMs)}`, 'animation-duration': `${left}ms` };
  }, [endsAt, ttlMs]);
  return (
    <span class={`bar ${seat.holds ? '' : 'waits'}`} aria-hidden="true">
      <span key={endsAt} style={style} />
    </span>
  );
}
