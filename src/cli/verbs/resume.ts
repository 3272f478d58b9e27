import { readText } from '../../core/hand-over.ts';
import type { Lease } from '../../core/lease.ts';
import { type CliVerb, misuse, VALUE } from '../arguments.ts';
import { readLease, removeLease, runUnder } from '../lease-file.ts';
import { holdsOf, LOCK_FLAGS, LOCK_HELP, underLock } from '../under-lock.ts';

export const verb: CliVerb = {
  help: `Usage: holdfast resume FILE [flags] -- COMMAND [ARGUMENT...]

Runs a command under the lock that 'holdfast run --hand-over FILE' has left in FILE: no other holder
had it in between. FILE is removed once the lock is resumed here.

  --hand-over FILE  if the command succeeds, leave the lock there again
  --min-hold DURATION  the lock stays taken for at least this long from now on
  --max-hold DURATION  the command is ended, and the lock lost, after this long
${LOCK_HELP}
The environment of the command and the exit status are as of 'run': 75 if there is no such file, if
another has resumed the lock, or if its TTL was over before.
`,
  flags: { 'hand-over': VALUE, 'min-hold': VALUE, 'max-hold': VALUE, ...LOCK_FLAGS },
  takesCommand: true,
  async run(given) {
    const path = given.atMost(1, ': write resume FILE -- COMMAND');
    if (path === undefined) throw misuse('FILE is missing');
    const holds = holdsOf(given);
    const text = readLease(path);
    return underLock(given, readText(text).resource, (scene) =>
      runUnder(scene, given.text('hand-over'), async (): Promise<Lease> => {
        const { locks, signal } = scene;
        const lease = await locks.resume(text, { ...holds, signal });
        removeLease(path);
        return lease;
      }),
    );
  },
};
