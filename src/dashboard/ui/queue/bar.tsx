/** How much time a claim has left: a bar that runs down, and begins anew at each heartbeat. */
import { useMemo } from 'preact/hooks';
import type { Seat } from '../../wire.ts';

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
