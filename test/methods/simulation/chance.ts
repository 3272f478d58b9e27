/** Seeded chance: mulberry32, whose 32 bits of state are more than any world here draws. */
export class Chance {
  #state: number;

  constructor(seed: number) {
    // Neighbouring seeds should have nothing in common.
    this.#state = Math.imul(seed ^ 0x9e37_79b9, 0x85eb_ca6b) >>> 0;
  }

  readonly next = (): number => {
    this.#state = (this.#state + 0x6d2b_79f5) | 0;
    let bits = Math.imul(this.#state ^ (this.#state >>> 15), 1 | this.#state);
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits;
    return ((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32;
  };

  /** True for this share of all times. */
  share(share: number): boolean {
    return share > 0 && this.next() < share;
  }

  below(n: number): number {
    return Math.floor(this.next() * n);
  }

  between(least: number, most: number): number {
    return least + this.below(most - least + 1);
  }

  one<T>(list: readonly T[]): T {
    return list[this.below(list.length)] as T;
  }

  shuffle<T>(list: T[]): T[] {
    for (let i = list.length - 1; i > 0; i--) {
      const j = this.below(i + 1);
      [list[i], list[j]] = [list[j] as T, list[i] as T];
    }
    return list;
  }

  fork(): Chance {
    return new Chance(Math.floor(this.next() * 2 ** 32));
  }
}
