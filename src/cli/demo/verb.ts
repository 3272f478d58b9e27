import { ALONE, type CliVerb } from '../arguments.ts';
import { ExitError, STATUS } from '../process/exit-status.ts';

export const verb: CliVerb = {
  help: `Usage: holdfast demo

Shows with three processes, in some seconds, what becomes of a lock whose holder is stopped or
killed, and which write only a fence refuses. It needs no server, no package and no file.
`,
  flags: { help: { ...ALONE, short: 'h' } },
  async run(given) {
    given.atMost(0);
    // The processes of the demo are told so by those that start them.
    const { HOLDFAST_DEMO_ACTOR: actor } = process.env;
    if (actor && process.send) {
      const { act } = await import('./actor.ts');
      return act(actor);
    }
    if (process.platform === 'win32') {
      throw new ExitError(STATUS.refused, 'The demo stops a process, which Windows cannot do.');
    }
    const { play } = await import('./play.ts');
    return play();
  },
};
