import type { Queue } from '../../contract/store.ts';
import type { Locks } from '../../locks.ts';
import { list } from '../../operators/list.ts';
import { queuesOf } from '../../operators/queues.ts';
import { COMMON } from '../arguments.ts';
import { live, redraw, screen } from '../live.ts';
import { openLocks } from '../open-locks.ts';
import { print, printJson } from '../output.ts';
import { queueJson, SUMMARY_HEADINGS, summaryCells, tableLines } from '../queue-view.ts';
import type { Verb } from './verb.ts';

const HELP = `Usage: holdfast top [PREFIX] [--store URL] [--json]

Shows the names that are held or waited for, all or those that begin with PREFIX, until it is
interrupted: first those whose first waiter has waited longest, then those that are held longest.
On a terminal it redraws the table; elsewhere it appends the table, or with --json a line, at each
look. It looks once a second, and reads every queue each time.

  --store URL    sqlite:FILE, postgres://HOST, etcd://HOST, …; default $HOLDFAST_STORE or a file
  --json
`;

const LOOK_MS = 1_000;

export const verb: Verb = {
  help: HELP,
  flags: COMMON,
  async run(given) {
    const prefix = given.atMostOne();
    const asJson = given.has('json');
    const locks = await openLocks(given, { looks: true });
    const look = async (): Promise<void> => show(await inUse(locks, prefix), asJson);
    return live(look, { everyMs: LOOK_MS, asJson });
  },
};

async function inUse(locks: Locks, prefix: string | undefined): Promise<readonly Queue[]> {
  const names: string[] = [];
  for await (const name of list(locks, prefix)) names.push(name);
  const queues = [...(await queuesOf(locks, names)).values()];
  return queues.sort(
    (a, b) => firstOf(a.waiters) - firstOf(b.waiters) || firstOf(a.holders) - firstOf(b.holders),
  );
}

/** When the first began, later than all others if there is none. */
function firstOf([first]: Queue['waiters']): number {
  return first?.holder.since ?? Number.MAX_SAFE_INTEGER;
}

function show(queues: readonly Queue[], asJson: boolean): Promise<void> {
  const at = new Date().toISOString();
  if (asJson) return printJson({ at, queues: queues.map(queueJson) });
  const rows = [SUMMARY_HEADINGS, ...queues.map(summaryCells)];
  const columns = process.stdout.isTTY ? screen().columns : undefined;
  const waiting = queues.reduce((sum, { waiters }) => sum + waiters.length, 0);
  const lines = [
    `${at}: ${queues.length} in use, ${waiting} waiting`,
    ...tableLines(rows, columns),
  ];
  return process.stdout.isTTY ? redraw(lines) : print(`${lines.join('\n')}\n`);
}
