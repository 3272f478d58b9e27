/**
 * Why this process waits, for people: a line on the terminal that is written again each second. In
 * a log, with -v, one line, and another each time that the claim was lost, as when the process
 * stood still, and is last in the queue again. Without -v, only one where the store grants nothing
 * after a loss of data.
 *
 * It also ends a wait that is for itself. A command under the lock has the holder's token in its
 * environment, so a nested `holdfast` that sees this token among the holders waits for its own
 * ancestor, which waits for it. Permits are another case: other holders may leave theirs, so only
 * an ancestor that holds alone is in the way for ever. A token of another store is not in the
 * queue, and neither is that of a holder that has left.
 */
import { hostname } from 'node:os';
import { isatty } from 'node:tty';
import type { Member } from '../contract/store.ts';
import type { Inspection } from '../core/engine.ts';
import { DeadlockError } from '../core/errors.ts';
import type { Locks } from '../locks.ts';
import { deadlockAround } from '../operators/deadlocks/knots.ts';
import { isCandidate } from '../operators/list.ts';
import { span } from '../operators/span.ts';
import type { Waiting } from '../store-calls/waiting.ts';
import { draw, plain, printError } from './output.ts';
import { cycleText, lossText, whoText } from './queue-view.ts';

/** Shorter waits are not worth a line. In ms. */
const FIRST_LOOK_MS = 300;
const LOOK_MS = 1000;
/** In a log, what is looked for is rare. */
const LOG_LOOK_MS = 5000;

interface ShownWait {
  readonly name: string;
  readonly verbose: boolean;
  /** What is written to the standard error is for programs. */
  readonly asJson: boolean;
  /** Called when the wait would never end. */
  refuse(error: DeadlockError): void;
}

export class WaitingLine {
  readonly #locks: Locks;
  readonly #wait: ShownWait;
  readonly #since = performance.now();
  // Not `process.stderr`, which would make a pipe non-blocking for the command that shares it.
  readonly #terminal = isatty(2);
  readonly #nested: boolean;
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #forget: readonly (() => void)[];
  #visible: boolean;
  #shown = false;
  /** When the waiting claim was made, as it says itself. */
  #claimed: number | undefined;
  #lostPlace = false;
  #over = false;

  constructor(locks: Locks, wait: ShownWait) {
    this.#locks = locks;
    this.#wait = wait;
    this.#nested = process.env.HOLDFAST_RESOURCE === wait.name;
    this.#visible = this.#terminal || wait.verbose;
    this.#forget = [
      // This line is what the process would warn of.
      locks.on('slow', () => {}),
      locks.on('quarantine', () => this.#showLoss()),
    ];
    if (!this.#terminal && !wait.verbose && !this.#nested) return;
    this.#timers.push(setTimeout(() => void this.#look(), FIRST_LOOK_MS));
    const pauseMs = this.#terminal || this.#nested ? LOOK_MS : LOG_LOOK_MS;
    this.#timers.push(setInterval(() => void this.#look(), pauseMs));
  }

  /** Ends the line; nothing of it stays on the terminal. */
  async stop(): Promise<void> {
    if (this.#over) return;
    this.#over = true;
    for (const forget of this.#forget) forget();
    for (const timer of this.#timers) clearInterval(timer);
    if (this.#shown && this.#terminal) await draw(ERASE);
  }

  #showLoss(): void {
    if (this.#visible || this.#wait.asJson) return;
    this.#visible = true;
    this.#timers.push(setTimeout(() => void this.#look(), FIRST_LOOK_MS));
  }

  async #look(): Promise<void> {
    const { name } = this.#wait;
    const queue = await this.#locks.inspect(name).catch(() => undefined);
    const cycle = queue && (await deadlockAround(this.#locks, queue));
    if (this.#over) return;
    if (queue && this.#nested && waitsForItself(queue)) {
      const why = 'the command that asks runs under it, and its holder waits for the command';
      return this.#wait.refuse(new DeadlockError(name, why));
    }
    const lost = this.#loses(queue);
    if (!this.#visible || (this.#shown && !this.#terminal && !lost)) return;
    const line = this.#text(queue && { ...waitingAt(queue), cycle });
    this.#shown = true;
    if (!this.#terminal) return printError(`holdfast: ${line}`);
    // A terminal of unknown size reports 0. A full line would wrap.
    const columns = process.stderr.columns || 80;
    return draw(`${ERASE}${line.slice(0, columns - 1)}`);
  }

  /** Whether another claim of this process waits than at the last look. */
  #loses(queue: Inspection | undefined): boolean {
    const claimed = queue?.waiters.find(isOurs)?.holder.since ?? this.#claimed;
    const lost = this.#claimed !== undefined && claimed !== this.#claimed;
    this.#claimed = claimed;
    this.#lostPlace ||= lost;
    return lost;
  }

  /** What is waited for; undefined if the store did not reply. */
  #text(waiting: Partial<Waiting> | undefined): string {
    const again = this.#lostPlace ? ', in line again after its place was lost' : '';
    const waited = span(performance.now() - this.#since);
    const what = `waiting ${waited} for ${plain(this.#wait.name)}${again}`;
    if (!waiting) return `${what}: the store does not reply`;
    const { why, leftMs = 0, holders = [], ahead = 0, cycle = [] } = waiting;
    if (why === 'data-loss') return `${what}: ${lossText(leftMs)}`;
    const waiters = ahead - holders.length;
    const before = waiters > 0 ? `; ${waiters} before you` : '';
    const [holder, ...others] = holders;
    if (!holder) return `${what}, which has no holder${before}`;
    const more = others.length > 0 ? ` and ${others.length} more` : '';
    const does = `${isCandidate(holder) ? 'led' : 'held'} by ${whoText(holder)}`;
    const age = span(Date.now() - holder.holder.since);
    const beat = `last heartbeat ${span(holder.ttlMs - holder.leftMs)} ago`;
    return `${what}, ${does} for ${age}, ${beat}${more}${before}${cycleText(cycle)}`;
  }
}

const ERASE = '\r\u001b[K';

function waitsForItself({ holders }: Inspection): boolean {
  const ancestor = holders.find(({ number }) => String(number) === process.env.HOLDFAST_TOKEN);
  return ancestor !== undefined && (ancestor.kind !== 'permits' || holders.length === 1);
}

/** For our own claim in this queue. */
function waitingAt({ waiting, holders, waiters }: Inspection): Partial<Waiting> {
  const before = waiters.findIndex(isOurs);
  return before < 0 ? { ...waiting } : { ...waiting, ahead: holders.length + before };
}

function isOurs({ holder }: Member): boolean {
  return holder.pid === process.pid && holder.host === hostname();
}
