import { once } from 'node:events';
import { MAX_PERMITS } from '../../contract/store.ts';
import { createElection, type Election } from '../../jobs/election/index.ts';
import { type CliVerb, VALUE } from '../arguments.ts';
import type { CommandEnding } from '../command.ts';
import { holdsOf, LOCK_FLAGS, LOCK_HELP, type Scene, underLock } from '../under-lock.ts';

export const verb: CliVerb = {
  help: `Usage: holdfast elect NAME [flags] -- COMMAND [ARGUMENT...]

Is a candidate in the election NAME, and runs a command while it leads. Other candidates, also in
programs, stand by and take over in order. If it loses its seat, it ends the command and stands
again, as the last in the queue. When the command ends by itself, it gives up the seat and exits.

  --seats N         how many lead at a time (default 1); the same for all candidates
  --min-hold DURATION  the seat stays taken for at least this long, even if the command is quicker
  --max-hold DURATION  a term ends after this long, and so does its command; the next one leads
${LOCK_HELP}
Exit status: that of the command; 79 if the seat was lost after a signal to end; else as of 'run'.
`,
  flags: { seats: VALUE, 'min-hold': VALUE, 'max-hold': VALUE, ...LOCK_FLAGS },
  takesCommand: true,
  async run(given) {
    const name = given.name(': write elect NAME -- COMMAND');
    const seats = given.whole('seats', 1, MAX_PERMITS) ?? 1;
    const terms = { ...holdsOf(given), seats };
    return underLock(given, name, (scene) => lead(scene, createElection(scene.locks, name, terms)));
  },
};

/** Term after term, until the command ends by itself, or a signal ends it all. */
async function lead({ signal, runs, waits }: Scene, election: Election): Promise<CommandEnding> {
  signal.throwIfAborted();
  // A candidate goes on when its store fails, but a store that never replies is a mistake.
  await Promise.race([election.standings(), once(signal, 'abort')]);
  signal.throwIfAborted();
  const candidate = election.campaign();
  let leads = false;
  // Under a running command the seat must stay: the command gets the signal, and ends first.
  signal.addEventListener('abort', () => {
    if (!leads) void candidate.resign();
  });
  for await (const { lease } of candidate) {
    leads = true;
    const ending = await runs(lease).catch((error: unknown) => {
      // A seat that was lost before the command began is not a failure.
      if (!lease.loss) throw error;
      return undefined;
    });
    if (ending && (!lease.loss || signal.aborted)) return ending;
    signal.throwIfAborted();
    leads = false;
    waits();
  }
  signal.throwIfAborted();
  throw new Error('The candidacy has ended without a reason.');
}
