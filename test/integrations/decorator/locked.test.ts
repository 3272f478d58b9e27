import * as holdfast from 'holdfast';
import { createLocks, isLockError, type Locks, locked } from 'holdfast';
import { memoryStore } from 'holdfast/memory';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Decorators, loadDecorated } from '../../support/load-decorated.ts';

let locks: Locks;

beforeEach(() => {
  locks = createLocks(memoryStore());
});

afterEach(() => locks.close());

const entered = (): Promise<never> => Promise.reject(new Error('entered'));

describe.each<Decorators>(['standard', 'legacy'])('a method locked by a %s decorator', (kind) => {
  const file = new URL('shop.ts', import.meta.url);
  const { Shop } = loadDecorated<typeof import('./shop.ts')>(file, {
    decorators: kind,
    library: { holdfast },
  });

  it('runs under the mutex that its arguments name, with its own this and arguments', async () => {
    const shop = new Shop(locks);
    const [a, b] = [{ id: 'a' }, { id: 'b' }];
    const answers = await Promise.all([shop.ship(a), shop.ship(a, 'by air'), shop.ship(b)]);
    expect(answers).toEqual(['this, by post', 'this, by air', 'this, by post']);
    const ofA = shop.steps.filter((step) => step.endsWith('a'));
    expect(ofA).toEqual(['begin a', 'end a', 'begin a', 'end a']);
    // Another name is another lock.
    expect(shop.steps.indexOf('begin b')).toBeLessThan(shop.steps.indexOf('end a'));
  });

  it('finds the lease that it runs under, which is released when it has settled', async () => {
    const shop = new Shop(locks);
    await shop.ship({ id: 'a' });
    expect(shop.leases).toMatchObject([{ resource: 'order:a', state: 'released' }]);
  });

  it('looks like the method itself', () => {
    const descriptor = Object.getOwnPropertyDescriptor(Shop.prototype, 'ship');
    expect(descriptor).toMatchObject({ enumerable: false, writable: true, configurable: true });
    expect(Shop.prototype.ship.name).toBe('ship');
    expect(Shop.prototype.ship).toHaveLength(1);
  });

  it('rejects with what the method throws, and lets go of the mutex', async () => {
    await expect(new Shop(locks).fail()).rejects.toThrow(RangeError);
    expect(await locks.mutex('failing').tryRun(() => 'free')).toMatchObject({ value: 'free' });
  });

  it('is skipped while somebody else is at it, if it says so', async () => {
    const calls: unknown[] = [];
    const other = createLocks(memoryStore());
    const first = await new Shop(locks).report(async () => {
      calls.push(await new Shop(locks).report(entered));
      // Another store's lock of that name is free.
      calls.push(await new Shop(other).report(async () => {}));
    });
    expect([...calls, first]).toEqual([undefined, 'reported', 'reported']);
    await other.close();
  });

  it('waits no longer than its call or its decorator says', async () => {
    const shop = new Shop(locks);
    const lease = await locks.mutex('slow').acquire();
    const aborter = new AbortController();
    const call = shop.slow(aborter.signal, entered);
    aborter.abort(new RangeError('gone'));
    await expect(call).rejects.toThrow('gone');
    await expect(shop.hasty(entered)).rejects.toMatchObject({ code: 'ACQUIRE_TIMEOUT' });
    await expect(shop.hastyCall(entered)).rejects.toMatchObject({ code: 'ACQUIRE_TIMEOUT' });
    await lease.release();
  });

  it('enters again only if it is re-entrant', async () => {
    expect(await new Shop(locks).walk(2)).toBe(2);
    await expect(new Shop(locks).push(1)).rejects.toMatchObject({ code: 'DEADLOCK' });
  });

  it('may be static', async () => {
    Shop.locks = locks;
    expect(await Shop.stock()).toBe('static');
  });
});

/** What JavaScript may do although the types refuse it. */
type Loose = (...args: unknown[]) => unknown;

const usage = (message: RegExp) =>
  expect.objectContaining({ code: 'USAGE', message: expect.stringMatching(message) });

describe('locked refuses', () => {
  const make: Loose = locked as Loose;
  const decorate = (): Loose => make(locks, 'a') as Loose;

  it.each<[string, unknown[], RegExp]>([
    ['a class', [class {}, { kind: 'class' }], /methods, not a class/],
    ['a getter', [() => 1, { kind: 'getter' }], /methods, not a getter/],
    ['a field', [undefined, { kind: 'field' }], /methods, not a field/],
    ['a legacy class', [class {}], /methods, not a class/],
    ['a legacy getter', [{}, 'size', { get: () => 1 }], /methods, not size/],
    ['a legacy field', [{}, Symbol('size'), undefined], /methods, not Symbol\(size\)/],
    ['a legacy parameter', [{}, 'ship', 0], /methods, not ship/],
  ])('%s', (_, args, message) => {
    expect(() => decorate()(...args)).toThrow(usage(message));
  });

  it.each<[string, unknown[], RegExp]>([
    ['no locks', [undefined, 'a'], /takes Locks/],
    ['no name', [() => undefined, 1], /takes a name/],
    ['an option that does not exist', [() => undefined, 'a', { waits: 1 }], /no option "waits"/],
    ['an odd ifBusy', [() => undefined, 'a', { ifBusy: 'fail' }], /'wait' or 'skip', not 'fail'/],
    ['a skip that waits', [() => undefined, 'a', { ifBusy: 'skip', wait: 5 }], /leave out wait/],
  ])('%s', (_, args, message) => {
    expect(() => make(...args)).toThrow(usage(message));
  });

  it.each<[string, unknown[], RegExp]>([
    ['an object without locks', [() => undefined, 'a'], /takes Locks/],
    ['a call without a name', [() => locks, () => undefined], /must be an object/],
    ['an empty name', [() => locks, () => ''], /name/],
    ['an odd option of a call', [() => locks, () => ({ name: 'a', ttl: 1 })], /no option "ttl"/],
    ['an odd ttl', [() => locks, 'a', { ttl: 1 }], /ttl must be at least/],
  ])('%s, when it is called', async (_, args, message) => {
    const called = (make(...args) as Loose)(entered, { kind: 'method' }) as Loose;
    await expect(called()).rejects.toEqual(usage(message));
  });

  it.each<[string, () => unknown]>([
    ['nothing', () => undefined],
    ['a value', () => 1],
    ['an async generator', async function* () {}],
  ])('a method that returns %s', async (_, method) => {
    const called = decorate()(method, { kind: 'method' }) as Loose;
    const error = await (called() as Promise<unknown>).catch((reason: unknown) => reason);
    expect(error).toEqual(usage(/must return a promise to be locked/));
    expect(isLockError(error, 'USAGE')).toBe(true);
    expect((await locks.inspect('a')).holders).toEqual([]);
  });
});

it('metadata goes to the method that stands in, as far as the program has any', async () => {
  const method = Object.assign(async function ship(): Promise<void> {}, { route: '/' });
  const without = (locked(locks, 'a') as Loose)(method, { kind: 'method' }) as typeof method;
  expect([without.name, without.route]).toEqual(['ship', '/']);

  await import('reflect-metadata');
  Reflect.defineMetadata('path', '/ship', method);
  const made = (locked(locks, 'a') as Loose)(method, { kind: 'method' }) as object;
  expect(Reflect.getOwnMetadata('path', made)).toBe('/ship');
});
