/** Runs a command while a lease is held, and ends it when the lease is lost. */
import { once } from 'node:events';
import type { Lease } from '../../core/lease.ts';
import { Command, type CommandEnding } from '../command.ts';
import { complainOf } from '../output.ts';
import { ExitError, STATUS } from './exit-status.ts';
import { passSignals } from './signals.ts';

/**
 * The lease stays with the caller, who releases it.
 * @throws LeaseLostError if it was lost before the command began.
 */
export async function hold(
  lease: Lease,
  words: readonly string[],
  { graceMs, asJson }: { readonly graceMs: number; readonly asJson: boolean },
): Promise<CommandEnding> {
  // This gets any later loss; `assertHeld` throws on an earlier one, before a command starts.
  const lost = once(lease.signal, 'abort');
  lease.assertHeld();
  let command: Command | undefined;
  const stop = passSignals(lease, () => command);
  try {
    command = await Command.start(words, {
      HOLDFAST_TOKEN: String(lease.token),
      HOLDFAST_RESOURCE: lease.resource,
      HOLDFAST_LINEAGE: lease.lineage,
    });
    const ending = await Promise.race([command.ended, lost]);
    const { loss } = lease;
    if (!loss) return ending as CommandEnding;
    const says = `${loss.message} Ending the command.`;
    const failure = new ExitError(STATUS.lost, says, { cause: loss });
    await Promise.all([command.end(graceMs), complainOf(failure, asJson)]);
    return { status: STATUS.lost, signal: null };
  } finally {
    stop();
  }
}
