/**
 * What happened, from two sources. Reports are events of the locks of this process: exact, with
 * reasons. Two looks at the store show who came and who is gone, but neither what came and went in
 * between nor why.
 *
 * Invariant: what both report has one line, that of the report, whichever came first. A look that
 * comes later is silent about it; a report that comes later takes the place of the look's line, by
 * its `id`. They meet in the token: the first lease of a claim has the one that the store shows,
 * and the next ones, of hand-offs in the process, are made from the same claim number. A miss has
 * no token: each meets one line `left` of its process, and a try waits for nothing.
 * What would break it: a line of a look whose key a report of the same would not have.
 */
import { numberOf, tokenOf } from '../contract/token.ts';
import { type BoardChange, whoText } from './board.ts';
import { Figures, keepNewest } from './figures.ts';
import type { Happening, QueueEvent, QueueRow, Rates, Report, Seat, Who } from './wire.ts';

/** How many lines are kept, over all resources. */
const MAX_EVENTS = 2_000;

/** How much of what was reported is remembered, so that nothing reports it again. */
const MAX_KNOWN = 40_000;

/** Most waits of one process for one name that are remembered. */
const MAX_ALIKE = 100;

/** How long before the look that last saw a waiter its miss may have been reported, in ms. */
const EARLY_MS = 10_000;

/** A holder whose end was this near at the last look may have expired, in ms. */
const NEAR_MS = 2_000;

type Line = Omit<QueueEvent, 'id'>;

/** A line that only looks know of yet. */
interface Concluded {
  readonly id: number;
  readonly detail: string | null;
  /** All that a report of the same event may be known by. */
  readonly keys: readonly string[];
}

export class History {
  #lines: QueueEvent[] = [];
  /** The number of the first line that is kept. */
  #first = 0;
  readonly #figures = new Figures();
  readonly #reported = new Set<string>();
  readonly #concluded = new Map<string, readonly Concluded[]>();
  /** The times of misses that no look has seen yet. */
  readonly #misses = new Map<string, readonly number[]>();
  #lookedAt = 0;

  /** The number that the next line gets. */
  get next(): number {
    return this.#first + this.#lines.length;
  }

  /** All lines from that number on that are still kept. */
  since(number: number): readonly QueueEvent[] {
    return this.#lines.slice(Math.max(0, number - this.#first));
  }

  rates(now: number): Rates {
    return this.#figures.rates(now);
  }

  /** An event of this process's locks. */
  report(name: string, report: Report, by: Who, at: number): void {
    const { what, token, handOffMs } = report;
    const isGrant = what === 'granted' || what === 'handed on';
    let concluded: Concluded | undefined;
    if (token !== null) {
      const end = goneKey(name, seatOf(token));
      const key = isGrant ? keyOf('grant', name, token) : end;
      concluded = this.#take(key);
      this.#know(key);
      // The claim goes on with another lease.
      if (isGrant) this.#reported.delete(end);
    } else if (report.detail !== 'taken') {
      const key = missKey(name, by);
      concluded = this.#take(key);
      if (!concluded) put(this.#misses, key, at, MAX_KNOWN);
    }
    if (isGrant && !concluded) this.#figures.granted(name, at);
    if (what === 'lost') this.#figures.losses.add(at);
    if (handOffMs !== null) this.#figures.handOffs.add(at, handOffMs);
    // About an end the report knows better; about a grant the look may know whom it followed.
    const details = isGrant ? [concluded?.detail, report.detail] : [report.detail];
    const detail = details.filter((each) => typeof each === 'string').join(', ') || null;
    const line = { at, name, what, token, who: whoText(by), detail };
    this.#add(line, concluded?.id);
  }

  /** An eviction by this dashboard. */
  evicted(line: Pick<Line, 'at' | 'name' | 'token' | 'who' | 'detail'>): void {
    this.#know(goneKey(line.name, line.token ?? ''));
    this.#add({ ...line, what: 'evicted' });
  }

  /** What the difference of two looks says. */
  conclude(change: BoardChange, rowNow: (name: string) => QueueRow | undefined, now: number): void {
    for (const name of [...change.changed, ...change.gone]) {
      this.#compare(name, change.before.get(name)?.seats ?? [], rowNow(name), now);
    }
    this.#lookedAt = now;
  }

  #compare(name: string, before: readonly Seat[], row: QueueRow | undefined, now: number): void {
    const after = row?.seats ?? [];
    const old = new Map(before.map((seat) => [seat.token, seat]));
    const left = before.filter(({ token }) => !after.some((seat) => seat.token === token));
    const gone = left.filter(({ holds }) => holds);
    const line = (seat: Seat, what: Happening, detail: string | null, ...keys: string[]): void => {
      const { token } = seat;
      const who = whoText(seat);
      const id = this.#add({ at: now, name, what, token, who, detail });
      for (const key of keys) put(this.#concluded, key, { id, detail, keys }, MAX_EVENTS);
    };
    // If another holder follows, its line tells of this one's end, if it is from this look.
    const followed = after.some(
      ({ holds, token }) =>
        holds && !old.get(token)?.holds && !this.#reported.has(keyOf('grant', name, token)),
    );
    for (const seat of followed ? [] : gone) {
      const key = goneKey(name, seat.token);
      if (this.#reported.has(key)) continue;
      const detail = seat.endsAt - now < NEAR_MS ? 'its time may have run out' : null;
      line(seat, 'gone', detail, key);
    }
    for (const seat of left.filter(({ holds }) => !holds)) {
      // It may have held and ended since the last look.
      const [end, miss] = [goneKey(name, seat.token), missKey(name, seat)];
      if (this.#reported.has(end) || this.#isMissed(miss)) continue;
      line(seat, 'left', null, end, miss);
    }
    for (const seat of after) {
      const was = old.get(seat.token);
      if (was?.holds === seat.holds) {
        // Only looks show a hold that changes hands.
        const stays = was.inTransit === seat.inTransit && whoText(was) === whoText(seat);
        if (!stays) line(seat, seat.inTransit ? 'handed over' : 'resumed', null);
        continue;
      }
      if (!seat.holds) {
        line(seat, 'waits', null);
        continue;
      }
      // A standby that leads has not waited.
      if (was && !row?.election) this.#figures.waits.add(now, Math.max(0, now - seat.since));
      const key = keyOf('grant', name, seat.token);
      if (this.#reported.has(key)) continue;
      this.#figures.granted(name, now);
      const [last] = gone;
      const detail = last ? `after ${whoText(last)}` : null;
      line(seat, last ? 'handed on' : 'granted', detail, key);
    }
  }

  /** The line of a look that a report takes the place of: of several, the newest. */
  #take(key: string): Concluded | undefined {
    const taken = this.#concluded.get(key)?.at(-1);
    for (const each of taken?.keys ?? []) {
      const rest = this.#concluded.get(each)?.filter((other) => other !== taken) ?? [];
      if (rest.length > 0) this.#concluded.set(each, rest);
      else this.#concluded.delete(each);
    }
    return taken;
  }

  /** Whether its process has reported a wait that ended; each time for one wait. */
  #isMissed(key: string): boolean {
    const since = this.#lookedAt - EARLY_MS;
    const [first, ...rest] = this.#misses.get(key)?.filter((at) => at > since) ?? [];
    if (rest.length > 0) this.#misses.set(key, rest);
    else this.#misses.delete(key);
    return first !== undefined;
  }

  #know(key: string): void {
    this.#reported.add(key);
    keepNewest(this.#reported, MAX_KNOWN);
  }

  /** Returns its id: its own, or that of the line which it takes the place of. */
  #add(line: Line, id: number = this.next): number {
    this.#lines.push({ ...line, id });
    const surplus = this.#lines.length - MAX_EVENTS;
    // Not one by one, because each cut moves all the others.
    if (surplus >= MAX_EVENTS / 10) {
      this.#lines = this.#lines.slice(surplus);
      this.#first += surplus;
    }
    return id;
  }
}

/** Appends to the list of a key, which is the newest then. */
function put<T>(lists: Map<string, readonly T[]>, key: string, value: T, most: number): void {
  const list = [...(lists.get(key) ?? []), value].slice(-MAX_ALIKE);
  lists.delete(key);
  lists.set(key, list);
  keepNewest(lists, most);
}

/** No two are equal, whatever the texts are. */
function keyOf(...parts: readonly (string | number)[]): string {
  return JSON.stringify(parts);
}

/** A claim is gone, as looks see it. */
function goneKey(name: string, seat: string): string {
  return keyOf('gone', name, seat);
}

function missKey(name: string, { host, pid }: Pick<Who, 'host' | 'pid'>): string {
  return keyOf('miss', name, host, pid);
}

/** The token that the store shows of the claim with this lease. */
function seatOf(token: string): string {
  return String(tokenOf(numberOf(BigInt(token))));
}
