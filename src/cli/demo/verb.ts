import { ALONE } from '../arguments.ts';
import { ExitError, STATUS } from '../process/exit-status.ts';
import type { CliVerb } from '../verbs/verb.ts';

const HELP = `Usage: holdfast demo

Shows with three processes, in some seconds, what becomes of a lock whose holder is stopped or
killed, and which write only a fence refuses. It works in a folder of its own, and removes it.
`;

export const verb: CliVerb = {
  help: HELP,
  flags: { help: { ...ALONE, short: 'h' } },
  async run(given) {
    given.atMost(0);
    // The processes of the demo are told so by those that start them.
    const { HOLDFAST_DEMO_ACTOR: actor, HOLDFAST_DEMO_FOLDER: folder } = process.env;
    if (actor && folder) {
      const { act } = await import('./actor.ts');
      return act(actor, folder);
    }
    if (process.platform === 'win32') {
      throw new ExitError(STATUS.refused, 'The demo stops a process, which Windows cannot do.');
    }
    const { play } = await import('./play.ts');
    return play();
  },
};
