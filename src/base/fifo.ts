/** An entry of a `Fifo`; in one at a time. */
export interface Linked<T> {
  previous: T | undefined;
  next: T | undefined;
}

/** First come, first served; removal from the middle costs no more than from the front. */
export class Fifo<T extends Linked<T>> {
  #first: T | undefined;
  #last: T | undefined;
  #size = 0;

  get first(): T | undefined {
    return this.#first;
  }

  get size(): number {
    return this.#size;
  }

  push(each: T): void {
    each.previous = this.#last;
    if (this.#last) this.#last.next = each;
    else this.#first = each;
    this.#last = each;
    this.#size++;
  }

  remove(each: T): void {
    if (each.previous) each.previous.next = each.next;
    else this.#first = each.next;
    if (each.next) each.next.previous = each.previous;
    else this.#last = each.previous;
    each.previous = undefined;
    each.next = undefined;
    this.#size--;
  }

  shift(): T | undefined {
    const first = this.#first;
    if (first) this.remove(first);
    return first;
  }

  all(): T[] {
    const all = new Array<T>(this.#size);
    let i = 0;
    for (let each = this.#first; each; each = each.next) all[i++] = each;
    return all;
  }
}
