/**
 * What happened, as far as it can be told: by the events of this process, which are exact, and by
 * two looks at the store, which show who came and who is gone, but neither what came and went in
 * between nor why. Where both tell of one thing, the event counts and the look is left out.
 */
import { type Change, whoText } from './board.ts';
import type { Rates, Row, Seat, Told } from './wire.ts';

/** How many lines are kept, over all resources. */
const MAX_TOLD = 2_000;

/** Over how much rates are counted, in ms. */
const WINDOW_MS = 60_000;

/** A holder whose end was so near at the last look may have expired, in ms. */
const NEAR_MS = 2_000;

interface Sample {
  readonly at: number;
  readonly what: 'grant' | 'loss' | 'wait' | 'hand-off';
  readonly ms: number;
}

export class History {
  #lines: Told[] = [];
  /** The number of the first line that is kept. */
  #first = 0;
  #samples: Sample[] = [];
  /** Tokens whose grants or ends have been told by events. */
  readonly #known = new Set<string>();

  /** The number that the next line gets. */
  get next(): number {
    return this.#first + this.#lines.length;
  }

  /** All lines from that number on that are still kept. */
  since(number: number): readonly Told[] {
    return this.#lines.slice(Math.max(0, number - this.#first));
  }

  /** What is known, and not concluded from looks. `seat` is the token that a look shows. */
  tell(told: Told, seat: string | null): void {
    this.#add(told);
    if (seat === null) return;
    this.#remember(`${endsHold(told.what) ? 'end ' : ''}${told.name} ${seat}`);
  }

  sample(what: Sample['what'], at: number, ms = 0): void {
    this.#samples.push({ at, what, ms });
    if (this.#samples.length > 2 * MAX_TOLD) this.#samples = this.#samples.slice(-MAX_TOLD);
  }

  /** What the difference of two looks says. */
  conclude(change: Change, rowNow: (name: string) => Row | undefined, now: number): void {
    for (const name of [...change.changed, ...change.gone]) {
      this.#compare(name, change.before.get(name)?.seats ?? [], rowNow(name)?.seats ?? [], now);
    }
  }

  rates(now: number): Rates {
    this.#samples = this.#samples.filter(({ at }) => now - at < WINDOW_MS);
    const of = (what: Sample['what']): readonly Sample[] =>
      this.#samples.filter((sample) => sample.what === what);
    return {
      grants: of('grant').length,
      losses: of('loss').length,
      waitMs: median(of('wait')),
      handOffMs: median(of('hand-off')),
    };
  }

  #compare(name: string, before: readonly Seat[], after: readonly Seat[], now: number): void {
    const old = new Map(before.map((seat) => [seat.token, seat]));
    const left = before.filter(({ token }) => !after.some((seat) => seat.token === token));
    const gone = left.filter(({ holds }) => holds);
    const line = (seat: Seat, rest: Pick<Told, 'what' | 'detail'>): void =>
      this.#add({
        ...{ at: now, name, token: seat.token, who: whoText(seat), from: 'store' },
        ...rest,
      });
    // Of a holder that another one follows, the line of that one tells.
    const followed = after.some(({ holds, token }) => holds && !old.get(token)?.holds);
    for (const seat of followed ? [] : gone) {
      if (this.#known.has(`end ${name} ${seat.token}`)) continue;
      const detail = seat.endsAt - now < NEAR_MS ? 'its time may have run out' : null;
      line(seat, { what: 'gone', detail });
    }
    for (const seat of left.filter(({ holds }) => !holds)) {
      if (!this.#known.has(`end ${name} ${seat.token}`)) line(seat, { what: 'left', detail: null });
    }
    for (const seat of after) {
      const was = old.get(seat.token);
      if (was?.holds === seat.holds) continue;
      if (!seat.holds) line(seat, { what: 'waits', detail: null });
      else if (!this.#known.has(`${name} ${seat.token}`)) {
        this.sample('grant', now);
        if (was) this.sample('wait', now, Math.max(0, now - seat.since));
        const [last] = gone;
        const detail = last ? `after ${whoText(last)}` : null;
        line(seat, { what: last ? 'handed on' : 'granted', detail });
      }
    }
  }

  #add(told: Told): void {
    this.#lines.push(told);
    const surplus = this.#lines.length - MAX_TOLD;
    // Not one by one, because each cut moves all the others.
    if (surplus < MAX_TOLD / 10) return;
    this.#lines = this.#lines.slice(surplus);
    this.#first += surplus;
  }

  #remember(key: string): void {
    this.#known.add(key);
    if (this.#known.size <= MAX_TOLD) return;
    for (const oldest of this.#known) {
      this.#known.delete(oldest);
      return;
    }
  }
}

function endsHold(what: Told['what']): boolean {
  return what === 'released' || what === 'lost' || what === 'evicted';
}

function median(samples: readonly Sample[]): number | null {
  const sorted = samples.map(({ ms }) => ms).sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? null;
}
