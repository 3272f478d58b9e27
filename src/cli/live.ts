/** What `watch` and `top` share: they look again and again until they are interrupted. */
import { setTimeout as sleep } from 'node:timers/promises';
import { passing } from '../jobs/election/candidate.ts';
import { complainOf, print } from './output.ts';

interface LiveTerms {
  readonly everyMs: number;
  readonly asJson: boolean;
  readonly interrupt?: AbortController;
}

/**
 * Looks until SIGINT, SIGTERM or the interrupt, then resolves with the status. A store that is away
 * for a while is mentioned once.
 * @throws the error of the first look, and later any that does not pass by itself.
 */
export async function live(look: () => Promise<void>, terms: LiveTerms): Promise<number> {
  const { everyMs, asJson, interrupt = new AbortController() } = terms;
  for (const signal of ['SIGINT', 'SIGTERM'] as const) {
    process.once(signal, () => interrupt.abort());
  }
  await look();
  for (let away = false; ; ) {
    await sleep(everyMs, undefined, interrupt).catch(() => {});
    if (interrupt.signal.aborted) return 0;
    try {
      await look();
      away = false;
    } catch (error) {
      passing(error);
      if (!away) await complainOf(error, asJson);
      away = true;
    }
  }
}

const CLEAR = '\u001b[H\u001b[J';

/** The size of the terminal; one of unknown size reports 0. */
export function screen(): { readonly rows: number; readonly columns: number } {
  return { rows: process.stdout.rows || 24, columns: process.stdout.columns || 80 };
}

/** In place of what the terminal shows, as far as there is room. */
export function redraw(lines: readonly string[]): Promise<void> {
  const more = lines.length - screen().rows + 2;
  const shown = more > 1 ? [...lines.slice(0, -more), `… and ${more} more`] : lines;
  return print(`${CLEAR}${shown.join('\n')}\n`);
}
