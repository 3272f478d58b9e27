/**
 * What happened in a world: a hash of all of it, counters of what it reached, and, if somebody
 * wants to read it, the lines. Nothing random or real enters: no ids, no wall clock.
 */
import type { Schedule } from './schedule.ts';

export type Problem = { readonly at: number; readonly what: string };

/** What every part of a world is given. */
export interface Course {
  readonly schedule: Schedule;
  readonly trace: Trace;
}

export class Trace {
  readonly lines: string[] | undefined;
  readonly counts: Map<string, number> = new Map();
  readonly problems: Problem[] = [];
  #hash = 0x811c_9dc5;
  #now: () => number;

  constructor(now: () => number, keep: boolean) {
    this.#now = now;
    this.lines = keep ? [] : undefined;
  }

  /** FNV-1a, in hexadecimal. */
  get hash(): string {
    return (this.#hash >>> 0).toString(16).padStart(8, '0');
  }

  add(who: string, what: string): void {
    const line = `${this.#now().toFixed(3).padStart(10)} ${who.padEnd(7)} ${what}`;
    let hash = this.#hash;
    for (let i = 0; i < line.length; i++) hash = Math.imul(hash ^ line.charCodeAt(i), 0x0100_0193);
    this.#hash = hash;
    this.lines?.push(line);
  }

  count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1);
  }

  /** A promise was broken. */
  fail(what: string): void {
    this.problems.push({ at: this.#now(), what });
    this.add('!', what);
  }
}
