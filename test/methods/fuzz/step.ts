/** One call in a sequence: what is called, with what, and what may come of it. */
import fc from 'fast-check';
import { isLockError, type LockErrorCode } from 'holdfast';
import { complain } from './process-watch.ts';
import { type Arg, Recipe } from './recipes.ts';
import type { World } from './world.ts';

export interface Step {
  readonly text: string;
  run(world: World): unknown;
}

/** One of many, and how often it comes. */
export interface Weighted {
  readonly arbitrary: fc.Arbitrary<Step>;
  readonly weight: number;
}

/** How often each function was called, with arguments that are allowed and that are not. */
export interface Count {
  taken: number;
  refused: number;
}

export const tally: Map<string, Count> = new Map();

export interface Terms {
  /** Errors that are documented for it beside UsageError, as exceptions or rejections. */
  readonly codes?: readonly LockErrorCode[];
  /** What is wrong is told as a rejection, because the function is asynchronous. */
  readonly rejects?: boolean;
  readonly weight?: number;
}

/** Written as `never` so that it can be passed wherever a type is asked for. */
type Act = (world: World, ...values: never[]) => unknown;

/** A call with arguments of which each may be wrong. */
export function step(
  name: string,
  args: readonly fc.Arbitrary<Arg>[],
  act: Act,
  terms: Terms = {},
): Weighted {
  const arbitrary = fc.tuple(...args).map((all) => stepOf(name, all, act, terms));
  return { arbitrary, weight: terms.weight ?? 2 };
}

function stepOf(name: string, args: readonly Arg[], act: Act, terms: Terms): Step {
  const text = `${name}(${args.map((arg) => arg.text).join(', ')})`;
  const run = (world: World): unknown => {
    const made = args.map((arg) => arg.make(world));
    const valid = made.every((each) => each.valid);
    if (made.some((each) => each.absent) || (valid && world.wrongOnly)) return undefined;
    count(name, valid);
    const values = made.map(({ value }) => value) as never[];
    const endless = made.some((each) => each.endless);
    return perform(world, { ...terms, text, valid, endless }, () => act(world, ...values));
  };
  return { text, run, [fc.toStringMethod]: () => text } as Step;
}

function count(name: string, valid: boolean): void {
  const counted = tally.get(name) ?? { taken: 0, refused: 0 };
  if (valid) counted.taken++;
  else counted.refused++;
  tally.set(name, counted);
}

function perform(
  world: World,
  call: Terms & { readonly text: string; readonly valid: boolean; readonly endless: boolean },
  act: () => unknown,
): unknown {
  const { text, valid, codes = [], endless, rejects } = call;
  let result: unknown;
  try {
    result = act();
  } catch (error) {
    if (valid) world.judge(text, error, codes);
    else if (!isLockError(error, 'USAGE')) complain(`${text} should be a usage error`, error);
    return undefined;
  }
  if (!valid && !rejects) {
    complain(`${text} was accepted`, result);
    if (result instanceof Promise) result.catch(() => {});
  } else if (result instanceof Promise) {
    world.track(text, result, valid ? codes : ['USAGE', 'UNSUPPORTED'], endless);
    if (!valid) result.then(() => complain(`${text} was accepted`)).catch(() => {});
  }
  return rejects ? (result as Promise<unknown>).catch(() => {}) : undefined;
}

/** Something that is no call: time passes, the program aborts, its work ends. */
export function deed(
  text: string,
  weight: number,
  act: (world: World, n: number) => unknown,
): Weighted {
  const arbitrary = fc.nat(7).map((n) => {
    const full = `${text} ${n}`;
    const run = (world: World): unknown => (world.wrongOnly ? undefined : act(world, n));
    return { text: full, run, [fc.toStringMethod]: () => full } as Step;
  });
  return { arbitrary, weight };
}

/** What earlier steps have made; without it there is no call. */
export function given(text: string, make: (world: World, n: number) => unknown): fc.Arbitrary<Arg> {
  return fc.nat(15).map(
    (n) =>
      new Recipe(`${text} ${n}`, (world) => {
        const value = make(world, n);
        return { value, valid: true, absent: value === undefined };
      }),
  );
}
