/**
 * What the types of `locked` let through, beside what shop.ts does, and what they refuse. Nothing
 * here runs: it is compiled with both kinds of decorators.
 */
import { type Locks, locked } from 'holdfast';
import type { Order } from './shop.ts';

declare const locks: Locks;

const byOrder = (order: Order): string => `order:${order.id}`;

export class Right {
  readonly locks: Locks = locks;

  @locked(locks, 'a')
  async anything(_n: number, _text?: string): Promise<void> {}

  @locked((self: Right) => self.locks, byOrder, { wait: '5s', ttl: '10s' })
  async moreArguments(_order: Order, _more: string): Promise<void> {}

  @locked(locks, byOrder)
  async moreThanAnOrder(_order: Order & { readonly cents: number }): Promise<void> {}

  @locked(locks, (_first: number, ...names: string[]) => names.join())
  async rest(_first: number, _second: string, _third: string): Promise<void> {}

  @locked(locks, 'a', { ifBusy: 'skip' })
  async skippedVoid(): Promise<void> {}

  @locked(locks, 'a')
  thenable(): PromiseLike<number> {
    return Promise.resolve(1);
  }
}

export class Wrong {
  // @ts-expect-error: the method has no order.
  @locked(locks, byOrder)
  async otherArguments(_id: string): Promise<void> {}

  // @ts-expect-error: an order that may be missing.
  @locked(locks, byOrder)
  async optional(_order?: Order): Promise<void> {}

  // @ts-expect-error: no promise.
  @locked(locks, 'a')
  answersNow(): number {
    return 1;
  }

  // @ts-expect-error: a generator.
  @locked(locks, 'a')
  async *generator(): AsyncGenerator<number> {}

  // @ts-expect-error: it cannot be skipped.
  @locked(locks, 'a', { ifBusy: 'skip' })
  async mustAnswer(): Promise<number> {
    return 1;
  }

  // @ts-expect-error: another class.
  @locked((self: Right) => self.locks, 'a')
  async elsewhere(): Promise<void> {}

  // @ts-expect-error: a getter.
  @locked(locks, 'a')
  get size(): number {
    return 1;
  }

  // @ts-expect-error: a field.
  @locked(locks, 'a')
  field = 1;

  // @ts-expect-error: an option that does not exist.
  @locked(locks, 'a', { waits: '5s' })
  async misspelt(): Promise<void> {}
}

// @ts-expect-error: a class.
@locked(locks, 'a')
export class Whole {}
