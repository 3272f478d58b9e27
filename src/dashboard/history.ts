/**
 * What happened, as far as it can be told: by the events of these locks, which are exact, and by
 * two looks at the store, which show who came and who is gone, but neither what came and went in
 * between nor why. Where both tell of one thing, the event counts and the look is left out.
 */
import { type Change, whoText } from './board.ts';
import type { Rates, Row, Seat, Told } from './wire.ts';

/** How many lines are kept, over all resources. */
const MAX_TOLD = 2_000;

/** How many grants and ends are remembered, so that the next look does not tell them again. */
const MAX_KNOWN = 20_000;

/** Over how much rates are counted, in seconds. */
const WINDOW_S = 60;

/** Of how many samples, the newest, a median is. */
const MAX_SAMPLES = 2_000;

/** A holder whose end was so near at the last look may have expired, in ms. */
const NEAR_MS = 2_000;

export class History {
  #lines: Told[] = [];
  /** The number of the first line that is kept. */
  #first = 0;
  readonly #counts = { grant: new Count(), loss: new Count() };
  readonly #samples = { wait: new Samples(), 'hand-off': new Samples() };
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
    const key = `${endsHold(told.what) ? 'end ' : ''}${told.name} ${seat}`;
    this.#known.add(key);
    keepNewest(this.#known, MAX_KNOWN);
  }

  count(what: 'grant' | 'loss', at: number): void {
    this.#counts[what].add(at);
  }

  sample(what: 'wait' | 'hand-off', at: number, ms: number): void {
    this.#samples[what].add(at, ms);
  }

  /** What the difference of two looks says. */
  conclude(change: Change, rowNow: (name: string) => Row | undefined, now: number): void {
    for (const name of [...change.changed, ...change.gone]) {
      this.#compare(name, change.before.get(name)?.seats ?? [], rowNow(name), now);
    }
  }

  rates(now: number): Rates {
    return {
      grants: this.#counts.grant.total(now),
      losses: this.#counts.loss.total(now),
      waitMs: this.#samples.wait.median(now),
      handOffMs: this.#samples['hand-off'].median(now),
    };
  }

  #compare(name: string, before: readonly Seat[], row: Row | undefined, now: number): void {
    const after = row?.seats ?? [];
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
      if (!seat.holds) {
        line(seat, { what: 'waits', detail: null });
        continue;
      }
      // A standby that leads has not waited.
      if (was && !row?.election) this.sample('wait', now, Math.max(0, now - seat.since));
      if (!this.#known.has(`${name} ${seat.token}`)) {
        this.count('grant', now);
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
}

/** How often something happened in the last minute, in buckets of a second. */
class Count {
  readonly #bySecond = new Map<number, number>();

  add(at: number): void {
    const second = Math.floor(at / 1_000);
    this.#bySecond.set(second, (this.#bySecond.get(second) ?? 0) + 1);
    keepNewest(this.#bySecond, WINDOW_S);
  }

  total(now: number): number {
    const first = Math.floor(now / 1_000) - WINDOW_S + 1;
    let total = 0;
    for (const [second, times] of this.#bySecond) total += second >= first ? times : 0;
    return total;
  }
}

/** How long something took in the last minute. */
class Samples {
  #all: { readonly at: number; readonly ms: number }[] = [];

  add(at: number, ms: number): void {
    this.#all.push({ at, ms });
    if (this.#all.length > 2 * MAX_SAMPLES) this.#all = this.#all.slice(-MAX_SAMPLES);
  }

  median(now: number): number | null {
    const recent = this.#all.filter(({ at }) => now - at < WINDOW_S * 1_000);
    const sorted = recent.map(({ ms }) => ms).sort((a, b) => a - b);
    return sorted[Math.floor(sorted.length / 2)] ?? null;
  }
}

/** Deletes what was put in first, until so many are left. */
export function keepNewest<K>(all: Set<K> | Map<K, unknown>, most: number): void {
  for (const oldest of all.keys()) {
    if (all.size <= most) return;
    all.delete(oldest);
  }
}

function endsHold(what: Told['what']): boolean {
  return what === 'released' || what === 'lost' || what === 'evicted';
}
