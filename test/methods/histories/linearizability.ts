/**
 * Whether what was recorded could have happened one operation at a time.
 *
 * A history is legal if each operation can be given an instant between its call and its return so
 * that, in the order of the instants, the model allows every one (Herlihy and Wing 1990). The
 * search is that of Wing and Gong (1993) with Lowe's memory (2017) of the positions it has seen. A
 * position is the set of operations placed and the state that they lead to. Only what is `open`
 * matters of the set: the operations that were called before the first return that is still due;
 * everything that returned earlier has been placed, and nothing called later may be.
 *
 * An operation whose outcome is unknown is placed at any time after its call, or never. Such ones
 * are tried last, and do not double the work each. Of two positions that differ only in which of
 * them they used, one that used a subset of the other's can do whatever the other can, so the
 * other is left out. And of several with the same input, only the first to be called is tried.
 * What would break it: times from clocks that do not compare, or a model whose `key` is the same
 * for states that behave differently.
 */
import { inspect } from 'node:util';

/** Times are of any unit, on a clock that all processes share. */
export interface Operation<I, O> {
  /** What is on different resources is checked apart; default: all is on one. */
  readonly resource?: string | undefined;
  /** Just before the call. */
  readonly calledAt: number;
  /** Just after the return; undefined: took effect at any time after the call, or never. */
  readonly returnedAt?: number | undefined;
  readonly input: I;
  /** Undefined if it is unknown, or if there is none. */
  readonly output?: O | undefined;
  /** For people. */
  readonly process?: string | number | undefined;
}

/** What operations do when they happen one at a time. States are never changed in place. */
export interface Model<S, I, O> {
  readonly init: S;
  /** The state after the operation; undefined if it cannot happen here, or not with this output. */
  step(state: S, operation: Operation<I, O>): S | undefined;
  /** Equal for states that are equal. */
  key(state: S): string;
  /** Optional: true if what returned so can never happen from here on. Saves detours. */
  hopeless?(state: S, operation: Operation<I, O>): boolean;
}

/** A resource of which the operations cannot be put in order. */
export interface Disorder<I, O> {
  readonly resource: string | undefined;
  /** `unknown`: no order was found before the budget was used up. */
  readonly verdict: 'illegal' | 'unknown';
  /** The longest beginning that could be put in order. */
  readonly placed: readonly Operation<I, O>[];
  /** What should have followed, the most urgent first; none of it can. */
  readonly unplaced: readonly Operation<I, O>[];
  readonly message: string;
}

export interface Linearizability<I, O> {
  readonly verdict: 'legal' | 'illegal' | 'unknown';
  readonly disorders: readonly Disorder<I, O>[];
  /** Positions that the search has seen. */
  readonly positions: number;
}

/**
 * @param options.budget positions to see for one resource before giving up; default 1,000,000.
 */
export function checkLinearizability<S, I, O>(
  model: Model<S, I, O>,
  history: Iterable<Operation<I, O>>,
  { budget = 1_000_000 }: { readonly budget?: number } = {},
): Linearizability<I, O> {
  const parts = new Map<string | undefined, Operation<I, O>[]>();
  for (const operation of history) {
    const part = parts.get(operation.resource);
    if (part) part.push(operation);
    else parts.set(operation.resource, [operation]);
  }
  const disorders: Disorder<I, O>[] = [];
  let positions = 0;
  for (const part of parts.values()) {
    const impossible = part.filter((each) => !(each.calledAt <= (each.returnedAt ?? Infinity)));
    if (impossible.length > 0) {
      disorders.push(describe('illegal', [], impossible, 'returned before the call'));
      continue;
    }
    const search = new Search(model, part);
    const verdict = search.run(budget);
    positions += search.positions;
    if (verdict !== 'legal') disorders.push(search.disorder(verdict));
  }
  const worst = disorders.find(({ verdict }) => verdict === 'illegal') ?? disorders[0];
  return { verdict: worst?.verdict ?? 'legal', disorders, positions };
}

/** How many of the operations that could be placed a message shows. */
const LAST_SHOWN = 3;

/** Numbers stand for operations, in the order of `Search.#all`. */
interface Position<S> {
  readonly parent: Position<S> | undefined;
  /** What was placed last. */
  readonly last: number;
  readonly length: number;
  readonly state: S;
  /** Of the operations that returned and are not placed, the first to return. */
  readonly due: number;
  /** Operations by call of which it is decided whether they may be placed. */
  readonly called: number;
  /** May be placed, in the order of their returns. */
  readonly open: readonly number[];
  /** May be placed or left out: their outcome is unknown. */
  readonly loose: readonly number[];
  /** Those of unknown outcome that were placed. */
  readonly used: readonly number[];
  /** The next one to try of `open`, then `loose`. */
  next: number;
}

class Search<S, I, O> {
  positions = 0;
  readonly #model: Model<S, I, O>;
  /** What returned, by return; then the others, by call. */
  readonly #all: readonly Operation<I, O>[];
  readonly #byCall: readonly number[];
  /** How many returned. */
  readonly #returned: number;
  /** Of two alike whose outcome is unknown, from the second to the first. */
  readonly #before = new Map<number, number>();
  readonly #seen = new Map<string, readonly (readonly number[])[]>();
  #furthest: Position<S>;

  constructor(model: Model<S, I, O>, operations: readonly Operation<I, O>[]) {
    this.#model = model;
    const call = (a: Operation<I, O>, b: Operation<I, O>): number => a.calledAt - b.calledAt;
    const returned = operations.filter(({ returnedAt }) => returnedAt !== undefined);
    const others = operations.filter(({ returnedAt }) => returnedAt === undefined);
    returned.sort((a, b) => (a.returnedAt ?? 0) - (b.returnedAt ?? 0));
    this.#all = [...returned, ...others.sort(call)];
    this.#returned = returned.length;
    const all = this.#all;
    const alike = new Map<string, number>();
    for (let index = this.#returned; index < all.length; index++) {
      const input = show(at(all, index).input);
      this.#before.set(index, alike.get(input) ?? -1);
      alike.set(input, index);
    }
    this.#byCall = [...all.keys()].sort((a, b) => call(at(all, a), at(all, b)));
    const none = { parent: undefined, last: -1, length: 0, state: model.init, due: 0, called: 0 };
    this.#furthest = this.#admit({ ...none, open: [], loose: [], used: [], next: 0 });
  }

  run(budget: number): 'legal' | 'illegal' | 'unknown' {
    let position: Position<S> | undefined = this.#furthest;
    this.#isNew(position);
    while (position) {
      if (position.due === this.#returned) return 'legal';
      if (this.positions > budget) return 'unknown';
      const { open, loose, next } = position;
      if (next === open.length + loose.length) {
        position = position.parent;
        continue;
      }
      position.next++;
      const index = open[next] ?? at(loose, next - open.length);
      if (loose.includes(this.#before.get(index) ?? -1)) continue;
      const child = this.#place(position, index);
      if (child && this.#isNew(child) && !this.#isDead(child)) position = child;
    }
    return 'illegal';
  }

  disorder(verdict: 'illegal' | 'unknown'): Disorder<I, O> {
    const { state, open } = this.#furthest;
    const placed: Operation<I, O>[] = [];
    for (let each = this.#furthest; each.parent; each = each.parent) {
      placed.push(at(this.#all, each.last));
    }
    placed.reverse();
    const unplaced = open.map((index) => at(this.#all, index));
    const where = `of ${this.#all.length} operations ${placed.length} could be put in order`;
    const last = placed.slice(-LAST_SHOWN).map(line).join('');
    const why = `${where}, the last of them${last}\nwhich leads to ${show(state)}; then none of`;
    return describe(verdict, placed, unplaced, why);
  }

  #place(from: Position<S>, index: number): Position<S> | undefined {
    const state = this.#model.step(from.state, at(this.#all, index));
    if (state === undefined) return undefined;
    const child = { ...from, parent: from, last: index, length: from.length + 1, state, next: 0 };
    const others = (list: readonly number[]): number[] => list.filter((each) => each !== index);
    if (index >= this.#returned) {
      const used = [...from.used, index].sort((a, b) => a - b);
      return { ...child, loose: others(from.loose), used };
    }
    const open = others(from.open);
    if (index !== from.due) return { ...child, open };
    // Whatever was called in time and is no longer open has been placed.
    const end = at(this.#all, index).returnedAt ?? 0;
    let due = index + 1;
    while (due < this.#returned && at(this.#all, due).calledAt <= end && !open.includes(due)) due++;
    return this.#admit({ ...child, open, due });
  }

  /** Opens what was called before the first return that is due. */
  #admit(position: Position<S>): Position<S> {
    if (position.due === this.#returned) return position;
    const end = at(this.#all, position.due).returnedAt ?? 0;
    const byCall = this.#byCall;
    let { called } = position;
    while (called < byCall.length && at(this.#all, at(byCall, called)).calledAt <= end) called++;
    const admitted = byCall.slice(position.called, called);
    const loose = admitted.filter((index) => index >= this.#returned);
    const open = [...position.open, ...admitted.filter((index) => index < this.#returned)];
    open.sort((a, b) => a - b);
    // The list is shared as long as it does not change: there may be many, and long ones.
    const all = loose.length > 0 ? [...position.loose, ...loose] : position.loose;
    return { ...position, called, open, loose: all };
  }

  #isDead({ state, open }: Position<S>): boolean {
    const model = this.#model;
    return open.some((index) => model.hopeless?.(state, at(this.#all, index)));
  }

  #isNew(position: Position<S>): boolean {
    const { open, used, due, length } = position;
    const key = `${open.join()} ${this.#model.key(position.state)}`;
    const seen = this.#seen.get(key) ?? [];
    if (seen.some((fewer) => fewer.every((index) => used.includes(index)))) return false;
    this.#seen.set(key, [...seen, used]);
    this.positions++;
    const furthest = this.#furthest;
    if (due > furthest.due || (due === furthest.due && length > furthest.length)) {
      this.#furthest = position;
    }
    return true;
  }
}

function at<T>(list: readonly T[], index: number): T {
  return list[index] as T;
}

function describe<I, O>(
  verdict: 'illegal' | 'unknown',
  placed: readonly Operation<I, O>[],
  unplaced: readonly Operation<I, O>[],
  why: string,
): Disorder<I, O> {
  const { resource } = unplaced[0] ?? placed[0] ?? {};
  const lines = unplaced.map(line).join('');
  const message = `${resource ?? 'history'}: ${verdict}: ${why}${lines}`;
  return { resource, verdict, placed, unplaced, message };
}

function line<I, O>({ input, output, process, calledAt, returnedAt }: Operation<I, O>): string {
  const who = `of ${process ?? 'somebody'} (${calledAt} to ${returnedAt ?? 'never'})`;
  return `\n  ${show(input)} → ${show(output)} ${who}`;
}

function show(value: unknown): string {
  return inspect(value, { breakLength: Infinity, depth: 5 });
}
