/** Waiting without a limit of one's own: for what comes, or for the end of what it comes from. */
import { TOO_LATE } from './late.ts';
import { HANG_MS } from './this-run.ts';

/** It was waited for as long as anything may take on the slowest machine. */
export class TooLate extends Error {
  override readonly name: string = TOO_LATE;
}

type Come = () => boolean | Promise<boolean>;

/** Why it cannot come about any more, with what its source said last; undefined while it can. */
export type Over = () => string | undefined;

/** Waits until `come` answers true; what it throws counts as false. */
export function until(come: Come): Promise<void>;
export function until(what: string, come: Come, over?: Over): Promise<void>;
export async function until(
  first: string | Come,
  come: Come = first as Come,
  over: Over = () => undefined,
): Promise<void> {
  const deadline = performance.now() + HANG_MS;
  let trouble: unknown;
  for (;;) {
    // Before it looks: what has ended may have done it first.
    const why = over();
    try {
      if (await come()) return;
      trouble = undefined;
    } catch (error) {
      trouble = error;
    }
    if (why !== undefined) throw new Error(`never ${first}: ${why}`, { cause: trouble });
    if (performance.now() > deadline) throw new TooLate(`never ${first}`, { cause: trouble });
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
