/**
 * What is going to happen in a world, in order of time and, at the same instant, in the order in
 * which it was arranged. A binary heap; what is cancelled stays in it until its time has come.
 */
import type { Clock, Timer } from 'holdfast';

export interface Entry extends Timer {
  readonly at: number;
  readonly nth: number;
  run: (() => void) | undefined;
  /** Sets nothing in motion, so what comes after it need not wait for it. */
  readonly quiet: boolean;
}

export class Schedule {
  /** The time of the world, in ms. */
  now = 0;
  /** Entries that have run. */
  steps = 0;
  readonly #heap: Entry[] = [];
  #count = 0;

  at(time: number, run: () => void, quiet = false): Entry {
    const entry: Entry = {
      at: Math.max(time, this.now),
      nth: this.#count++,
      run,
      quiet,
      ref: () => entry,
      unref: () => entry,
    };
    this.#push(entry);
    return entry;
  }

  after(ms: number, run: () => void): Entry {
    return this.at(this.now + ms, run);
  }

  cancel(entry: Entry): void {
    entry.run = undefined;
  }

  /** Runs the next entry; false if there is none. */
  step(): boolean {
    for (;;) {
      const next = this.#pop();
      if (!next) return false;
      if (!next.run) continue;
      this.now = next.at;
      next.run();
      if (next.quiet) continue;
      this.steps++;
      return true;
    }
  }

  /** The world's own time, without pauses and at the right rate. */
  clock(random: () => number): Clock {
    return {
      now: () => this.now,
      random,
      setTimeout: (run, ms) => this.after(Math.max(0, ms), run),
      clearTimeout: (timer) => this.cancel(timer as Entry),
      setImmediate: (run) => void this.after(0, run),
    };
  }

  #push(entry: Entry): void {
    const heap = this.#heap;
    let i = heap.length;
    heap.push(entry);
    while (i > 0) {
      const above = (i - 1) >> 1;
      const parent = heap[above] as Entry;
      if (!before(entry, parent)) break;
      heap[i] = parent;
      i = above;
    }
    heap[i] = entry;
  }

  #pop(): Entry | undefined {
    const heap = this.#heap;
    const first = heap[0];
    const last = heap.pop();
    if (!first || !last || heap.length === 0) return first;
    let i = 0;
    for (;;) {
      let child = 2 * i + 1;
      if (child >= heap.length) break;
      const right = heap[child + 1];
      if (right && before(right, heap[child] as Entry)) child++;
      if (!before(heap[child] as Entry, last)) break;
      heap[i] = heap[child] as Entry;
      i = child;
    }
    heap[i] = last;
    return first;
  }
}

function before(a: Entry, b: Entry): boolean {
  return a.at < b.at || (a.at === b.at && a.nth < b.nth);
}
