/**
 * When a fault counts as noticed.
 *
 * A test on real clocks may fail because the machine stood still: such a run is void, and says
 * nothing. What is left of chance is small, but a search runs hundreds of tests; so what it finds
 * on real clocks has to fail twice in a row. Whatever counts by a simulated clock, or by seeds,
 * takes the same course each time. A test that hangs has waited for longer than any machine
 * stands still, and is dear to repeat. The one test that is known to notice a fault, and to pass
 * without it, has to fail as it is known to: by what it expects, or by hanging; in another way,
 * twice.
 */
import type { Notice } from './kinds.ts';

/** A copy of the project, with a fault in it. */
export interface Planted {
  /** What of this fails now. */
  fails(notices: readonly Notice[]): Promise<Notice | undefined>;
  /** It counts by real clocks. */
  isTimed(notice: Notice): boolean;
}

/** How often to look for something that fails a second time. */
const TRIES = 3;

/** Whether this, which is known to notice the fault, notices it. */
export async function notices(planted: Planted, known: Notice): Promise<boolean> {
  const failed = await planted.fails([known]);
  if (!failed) return false;
  if (failed.hung === known.hung && failed.test === known.test) return true;
  return (await planted.fails([known])) !== undefined;
}

/** The first to notice the fault in a search that stops at the first failure. */
export async function firstNotice(
  planted: Planted,
  search: () => Promise<Notice | undefined>,
): Promise<Notice | undefined> {
  for (let i = 0; i < TRIES; i += 1) {
    const found = await search();
    if (!found || (await failsAgain(planted, found))) return found;
  }
  return undefined;
}

async function failsAgain(planted: Planted, failed: Notice): Promise<boolean> {
  if (failed.hung || !planted.isTimed(failed)) return true;
  return (await planted.fails([failed])) !== undefined;
}
