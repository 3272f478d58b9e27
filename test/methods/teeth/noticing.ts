/**
 * When a fault counts as noticed.
 *
 * The test that is named for a fault passes without it, and has to fail as it is known to: by what
 * it expects, or by hanging. In another way it has to fail twice, for on a real clock a test may
 * fail because the machine stood still.
 */
import type { Notice } from './fault.ts';

/** A copy of the project, with a fault in it. */
export interface Planted {
  /** What of this fails now. */
  fails(notices: readonly Notice[]): Promise<Notice | undefined>;
}

/** Whether this, which is named for the fault, notices it. */
export async function notices(planted: Planted, known: Notice): Promise<boolean> {
  const failed = await planted.fails([known]);
  if (!failed) return false;
  if (failed.hung === known.hung && failed.test === known.test) return true;
  return (await planted.fails([known])) !== undefined;
}
