/**
 * `top` on a terminal that takes keys.
 *
 * Invariant: the terminal is as it was before when this ends, by a key, a signal or an error; Node
 * restores it where the process itself is ended.
 */
import type { Queue } from '../../contract/store.ts';
import type { Locks } from '../../locks.ts';
import { evict } from '../../operators/evict.ts';
import { live, redraw, screen } from '../live.ts';
import { isColoured } from '../output.ts';
import { readKeys } from './keys.ts';
import { screenLines } from './screen.ts';
import { press, START, type TopEviction, type TopView } from './view.ts';

/** Resolves with the exit status. */
export async function browse(
  locks: Locks,
  { inUse, everyMs }: { inUse(): Promise<readonly Queue[]>; readonly everyMs: number },
): Promise<number> {
  const interrupt = new AbortController();
  let view: TopView = START;
  let queues: readonly Queue[] = [];
  const draw = (): Promise<void> =>
    redraw(screenLines(view, queues, { size: screen(), coloured: isColoured() }));
  let failure: unknown;
  const look = async (): Promise<void> => {
    queues = await inUse();
    if (!interrupt.signal.aborted) await draw();
  };
  const evictAndShow = async ({ name, ...options }: TopEviction): Promise<void> => {
    const evicts = async (): Promise<string> =>
      (await evict(locks, name, options))
        ? `Evicted: ${options.token}.`
        : `There is no claim ${options.token} any more.`;
    const notice = await evicts().catch((error: Error) => error.message);
    // Read only now: keys may have changed it meanwhile.
    view = { ...view, notice };
    await look();
  };
  const restore = readKeys(process.stdin, (keys) => {
    for (const key of keys) {
      const pressed = press(view, key, queues);
      view = pressed.view;
      if (pressed.quits) return interrupt.abort();
      // The next look reports a store that fails.
      if (pressed.evicts) evictAndShow(pressed.evicts).catch(() => {});
    }
    draw().catch((error: unknown) => {
      failure = error;
      interrupt.abort();
    });
  });
  try {
    const status = await live(look, { everyMs, asJson: false, interrupt });
    if (failure) throw failure;
    return status;
  } finally {
    restore();
  }
}
