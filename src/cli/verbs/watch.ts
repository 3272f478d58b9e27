import type { Member, Queue } from '../../contract/store.ts';
import { type CliVerb, COMMON } from '../arguments.ts';
import { live, redraw, screen } from '../live.ts';
import { openLocks } from '../open-locks.ts';
import { isColoured, print, printJson } from '../output.ts';
import { memberLine, queueJson, queueLines, stateOf } from '../queue-view.ts';

/** How often it looks, in ms: a person sees no difference, and the store hardly any. */
const LOOK_MS = 500;

type Show = (queue: Queue) => Promise<void>;

export const verb: CliVerb = {
  help: `Usage: holdfast watch NAME [--store URL] [--json]

Shows the holders and waiters until it is interrupted. On a terminal it redraws the queue;
elsewhere it appends a line for each change, or with --json the whole queue. It looks twice a
second, so it misses claims that come and go in between. While it cannot reach the store, it says
so and waits.
`,
  flags: COMMON,
  async run(given) {
    const name = given.name();
    const locks = await openLocks(given, { looks: true });
    const show = given.has('json') ? jsonLines() : process.stdout.isTTY ? draw : changes();
    const look = async () => show(await locks.inspect(name));
    return live(look, { everyMs: LOOK_MS, asJson: given.has('json') });
  },
};

const draw: Show = (queue) => redraw(queueLines(queue, isColoured(), screen().columns));

function jsonLines(): Show {
  let last = '';
  return async (queue) => {
    const { holders, waiters } = queue;
    const who = [holders, waiters].map((part) => part.map(({ number }) => number)).join(';');
    if (who !== last) await printJson({ at: new Date().toISOString(), ...queueJson(queue) });
    last = who;
  };
}

/** What each does, or that it has `left`, with the time and the member. */
function changes(): Show {
  let known: Map<bigint, { readonly state: string; readonly line: string }> | undefined;
  return async (queue) => {
    const seen: NonNullable<typeof known> = new Map();
    const note = (holds: boolean) => (member: Member) =>
      seen.set(member.number, { state: stateOf(member, holds), line: memberLine(member, queue) });
    queue.holders.forEach(note(true));
    queue.waiters.forEach(note(false));
    const at = new Date().toISOString();
    const gone = [...(known ?? [])].filter(([number]) => !seen.has(number));
    const came = [...seen].filter(([number, { state }]) => known?.get(number)?.state !== state);
    const empty = known || seen.size > 0 ? [] : queueLines(queue, false);
    const lines = [
      ...empty.map((line) => `${at} ${line}\n`),
      ...gone.map(([, { line }]) => `${at} left  ${line}\n`),
      ...came.map(([, { state, line }]) => `${at} ${state} ${line}\n`),
    ];
    if (lines.length > 0) await print(lines.join(''));
    known = seen;
  };
}
