import { deadlockAround } from '../../operators/deadlocks/knots.ts';
import { type CliVerb, COMMON } from '../arguments.ts';
import { openLocks } from '../open-locks.ts';
import { isColoured, print, printJson } from '../output.ts';
import { cycleJson, cycleLines, queueJson, queueLines } from '../queue-view.ts';

export const verb: CliVerb = {
  help: `Usage: holdfast show NAME [--store URL] [--json]

Prints the holders of the lock, and then its waiters, in order. TOKEN is the fencing token of a
holder, or the place of a waiter; 'evict' takes it. LEFT is the time left without another heartbeat.
Tells a deadlock that keeps the lock from coming free, if programs have found one.
`,
  flags: COMMON,
  async run(given) {
    const name = given.name();
    const locks = await openLocks(given, { looks: true });
    const queue = await locks.inspect(name);
    const cycle = await deadlockAround(locks, queue);
    if (given.has('json')) await printJson({ ...queueJson(queue), ...cycleJson(cycle) });
    else {
      const lines = [...queueLines(queue, isColoured()), ...cycleLines(cycle)];
      await print(`${lines.join('\n')}\n`);
    }
    return 0;
  },
};
