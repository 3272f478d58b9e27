import { setTimeout as sleep } from 'node:timers/promises';
import { isLockError } from '../../base/errors.ts';
import type { Member, Queue } from '../../contract/store.ts';
import { COMMON } from '../arguments.ts';
import { openLocks } from '../open-locks.ts';
import { complainOf, isColoured, print, printJson } from '../output.ts';
import { memberLine, queueJson, queueLines } from '../queue-view.ts';
import type { Verb } from './verb.ts';

const HELP = `Usage: holdfast watch NAME [--store URL] [--json]

Shows the holders and waiters until it is interrupted. On a terminal it redraws the queue;
elsewhere it appends a line for each change, or with --json the whole queue. It looks twice a
second, so it misses claims that come and go in between. While the store cannot be reached, it
says so and waits.
`;

/** How often it looks, in ms: a person sees no difference, and the store hardly any. */
const LOOK_MS = 500;

const CLEAR = '\u001b[H\u001b[J';

type Show = (queue: Queue) => Promise<void>;

export const verb: Verb = {
  help: HELP,
  flags: COMMON,
  async run(given) {
    const name = given.name();
    const interrupt = new AbortController();
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.once(signal, () => interrupt.abort());
    }
    const locks = await openLocks(given, { looks: true });
    const show = given.has('json') ? jsonLines() : process.stdout.isTTY ? draw : changes();
    await show(await locks.inspect(name));
    for (let away = false; ; ) {
      await sleep(LOOK_MS, undefined, interrupt).catch(() => {});
      if (interrupt.signal.aborted) return 0;
      try {
        await show(await locks.inspect(name));
        away = false;
      } catch (error) {
        if (!mayPass(error)) throw error;
        if (!away) await complainOf(error, given.has('json'));
        away = true;
      }
    }
  },
};

function mayPass(error: unknown): boolean {
  return (
    isLockError(error, 'STORE') && (error as { readonly retryable?: boolean }).retryable === true
  );
}

const draw: Show = (queue) => {
  // A terminal of unknown size reports 0.
  const rows = process.stdout.rows || 24;
  const columns = process.stdout.columns || 80;
  const lines = queueLines(queue, isColoured(), columns);
  const more = lines.length - rows + 2;
  const shown = more > 1 ? [...lines.slice(0, -more), `… and ${more} more`] : lines;
  return print(`${CLEAR}${shown.join('\n')}\n`);
};

function jsonLines(): Show {
  let last = '';
  return async (queue) => {
    const { holders, waiters } = queue;
    const who = [holders, waiters].map((part) => part.map(({ number }) => number)).join(';');
    if (who !== last) await printJson({ at: new Date().toISOString(), ...queueJson(queue) });
    last = who;
  };
}

/** `holds`, `waits` and `left`, with the time and the member. */
function changes(): Show {
  let known = new Map<bigint, { readonly state: string; readonly line: string }>();
  let begun = false;
  return async (queue) => {
    const seen: typeof known = new Map();
    const note = (state: string) => (member: Member) =>
      seen.set(member.number, { state, line: memberLine(member, queue) });
    queue.holders.forEach(note('holds'));
    queue.waiters.forEach(note('waits'));
    const at = new Date().toISOString();
    const gone = [...known].filter(([number]) => !seen.has(number));
    const came = [...seen].filter(([number, { state }]) => known.get(number)?.state !== state);
    const empty = !begun && seen.size === 0 ? queueLines(queue, false) : [];
    begun = true;
    const lines = [
      ...empty.map((line) => `${at} ${line}\n`),
      ...gone.map(([, { line }]) => `${at} left  ${line}\n`),
      ...came.map(([, { state, line }]) => `${at} ${state} ${line}\n`),
    ];
    if (lines.length > 0) await print(lines.join(''));
    known = seen;
  };
}
