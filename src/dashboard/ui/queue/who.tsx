/** Who holds or waits, in the same order everywhere: label, host, pid. */
import type { ComponentChildren } from 'preact';
import type { Who as Process } from '../../wire.ts';
import { placeOf } from '../text.ts';

interface WhoProps {
  readonly who: Process;
  readonly children?: ComponentChildren;
}

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
