import type { Queue } from '../../contract/store.ts';
import { list, queuesOf } from '../../operators/list.ts';
import { type CliVerb, COMMON } from '../arguments.ts';
import { live, redraw, screen } from '../live.ts';
import { openLocks } from '../open-locks.ts';
import { print, printJson } from '../output.ts';
import { countsText, queueJson, summaryLines } from '../queue-view.ts';
import { sorted } from './view.ts';

const LOOK_MS = 1_000;

export const verb: CliVerb = {
  help: `Usage: holdfast top [PREFIX] [--store URL] [--json]

Shows the names that are held or waited for, all or those that begin with PREFIX, until it is
interrupted: first those whose first waiter has waited longest, then those that are held longest.
It looks once a second, and reads every queue each time.

On a terminal it redraws the table, and takes keys: up and down select, Enter shows the holders and
waiters of a name and Escape goes back, / filters by a part of the name, s sorts, e evicts a holder
or waiter, after a reason and the name of the lock, q quits. Elsewhere it appends the table, or with
--json a line, at each look.

  --store URL    sqlite:FILE, postgres://HOST, etcd://HOST, …; default $HOLDFAST_STORE or a file
  --json
`,
  flags: COMMON,
  async run(given) {
    const prefix = given.atMost(1);
    const asJson = given.has('json');
    const locks = await openLocks(given, { looks: true });
    const inUse = async (): Promise<readonly Queue[]> => {
      const names: string[] = [];
      for await (const name of list(locks, prefix)) names.push(name);
      return [...(await queuesOf(locks, names)).values()];
    };
    if (process.stdin.isTTY && process.stdout.isTTY && !asJson) {
      const { browse } = await import('./browse.ts');
      return browse(locks, { inUse, everyMs: LOOK_MS });
    }
    const look = async (): Promise<void> => show(sorted(await inUse()), asJson);
    return live(look, { everyMs: LOOK_MS, asJson });
  },
};

function show(queues: readonly Queue[], asJson: boolean): Promise<void> {
  const at = new Date().toISOString();
  if (asJson) return printJson({ at, queues: queues.map(queueJson) });
  const columns = process.stdout.isTTY ? screen().columns : undefined;
  const lines = [`${at}: ${countsText(queues)}`, ...summaryLines(queues, columns)];
  return process.stdout.isTTY ? redraw(lines) : print(`${lines.join('\n')}\n`);
}
