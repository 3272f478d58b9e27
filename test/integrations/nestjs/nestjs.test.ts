import 'reflect-metadata';
import { Controller, Get, type INestApplication, Inject, Injectable, Module } from '@nestjs/common';
import { APP_FILTER, NestFactory } from '@nestjs/core';
import { Test } from '@nestjs/testing';
import type { Store } from 'holdfast';
import * as holdfast from 'holdfast';
import { ClosedError, createLocks, LeaseLostError, Locks, QueueFullError } from 'holdfast';
import { memoryStore } from 'holdfast/memory';
import * as nestjs from 'holdfast/nestjs';
import {
  HoldfastModule,
  LockExceptionFilter,
  LockedCron,
  LocksHealthIndicator,
  locksToken,
} from 'holdfast/nestjs';
import { simulatedClock } from 'holdfast/testkit';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { setUp } from '../../jobs/bed.ts';
import { databaseFile } from '../../methods/processes/child.ts';
import { gate } from '../../support/gate.ts';
import { loadDecorated } from '../../support/load-decorated.ts';

type App = typeof import('./app/shop.ts');

const decorators = 'legacy';
const warehouse = loadDecorated(new URL('app/warehouse.ts', import.meta.url), {
  ...{ decorators, library: {} },
}) as typeof import('./app/warehouse.ts');
const library = { holdfast, 'holdfast/nestjs': nestjs, './warehouse': warehouse };
const file = new URL('app/shop.ts', import.meta.url);

let shop: App;

beforeEach(() => {
  process.env.LOCKS = `sqlite:${databaseFile()}`;
  shop = loadDecorated<App>(file, { decorators, library });
});

afterEach(() => void delete process.env.LOCKS);

const QUIET = { logger: false, abortOnError: false } as const;

/** Starts an application on a free port. */
async function start(root: object): Promise<{ app: INestApplication; url: string }> {
  const app = await NestFactory.create(root as never, QUIET);
  onTestFinished(() => app.close());
  await app.listen(0, '127.0.0.1');
  return { app, url: await app.getUrl() };
}

/** On a connection of its own: one that is kept for the next would delay a shutdown for seconds. */
const post = (url: string): Promise<Response> =>
  fetch(url, { method: 'POST', headers: { connection: 'close' } });

describe('an application of NestJS', () => {
  it('has locks injected, and runs its locked methods one at a time for an order', async () => {
    const one = await start(shop.AppModule);
    // Of another process, in all but the process.
    const other = await start(shop.AppModule);
    const stock = [one, other].map(({ app }) => app.get(warehouse.Warehouse));
    const [held, entered] = [gate(), gate()];
    for (const each of stock) Object.assign(each, { open: held.opened, entered: entered.open });

    const calls = [one, other, one, other].map(({ url }) => post(`${url}/orders/a/ship`));
    await entered.opened;
    const locks = one.app.get(Locks);
    await expect.poll(async () => (await locks.inspect('order:a')).waiters.length).toBe(1);
    expect(stock.reduce((sum, { inside }) => sum + inside, 0)).toBe(1);
    held.open();

    const answers = await Promise.all(calls);
    for (const answer of answers) expect(await answer.text()).toBe('sent a');
    for (const { sent, most } of stock) expect([sent.length, most]).toEqual([2, 1]);
    expect(locks).toBeInstanceOf(Locks);
  });

  it('answers that something is busy', async () => {
    const { app, url } = await start(shop.RoutesModule);
    const lock = app.get(Locks).mutex('busy');
    const busy = await lock.run(() => fetch(`${url}/routes/busy`));
    expect([busy.status, busy.headers.get('retry-after')]).toEqual([409, '5']);
    expect((await fetch(`${url}/routes/busy`)).status).toBe(200);
  });

  it('tells whether the store answers', async () => {
    const { app, url } = await start(shop.AppModule);
    const sound = await fetch(`${url}/health`);
    expect(sound.status).toBe(200);
    expect(await sound.json()).toMatchObject({ status: 'ok', info: { locks: { status: 'up' } } });

    await app.get(Locks).close();
    const closed = await fetch(`${url}/health`);
    expect(closed.status).toBe(503);
    const down = { status: 'down', message: 'These locks are closed.' };
    expect(await closed.json()).toMatchObject({ status: 'error', error: { locks: down } });
  });

  it('keeps routes, whether locked is above or below them', async () => {
    const { url } = await start(shop.RoutesModule);
    for (const place of ['above', 'below']) {
      const answer = await fetch(`${url}/routes/${place}/7`);
      expect([place, await answer.text()]).toEqual([place, '7 under route:7']);
    }
  });

  it('lets work behind no request finish as well, for as long as drain says', async () => {
    const root = rootOf(HoldfastModule.forRoot({ store: memoryStore(), drain: 0 }));
    const { app } = await start(root);
    const aborted = gate();
    const lock = app.get(Locks).mutex('a');
    const work = lock.run(({ signal }) => {
      signal.addEventListener('abort', aborted.open);
      return aborted.opened;
    });
    await Promise.all([
      app.close(),
      expect(work).rejects.toMatchObject({ code: 'LEASE_LOST', reason: 'closed' }),
    ]);
  });
});

describe('forRoot', () => {
  class Feature {
    readonly locks: Locks;

    constructor(locks: Locks) {
      this.locks = locks;
    }
  }
  Injectable()(Feature);
  Inject(Locks)(Feature, undefined, 0);
  class FeatureModule {}
  Module({ providers: [Feature] })(FeatureModule);

  it.each([true, false])('is there for modules that do not import it: %s', async (isGlobal) => {
    const made = HoldfastModule.forRoot({ store: memoryStore(), isGlobal });
    const started = start(rootOf(made, FeatureModule));
    if (isGlobal) expect((await started).app.get(Feature).locks).toBeInstanceOf(Locks);
    else await expect(started).rejects.toThrow(/resolve dependencies/);
  });

  it('is another module for other options, however NestJS tells modules apart', async () => {
    const features = ['a:', 'b:'].map((prefix) => {
      class Of {}
      const imports = [HoldfastModule.forRoot({ store: memoryStore(), prefix })] as never[];
      Module({ imports, providers: [Feature] })(Of);
      return Of;
    });
    // By what their text says, which for functions is the same, whatever is around them.
    const options = { ...QUIET, moduleIdGeneratorAlgorithm: 'deep-hash' } as const;
    const app = await NestFactory.create(rootOf(...features) as never, options);
    onTestFinished(() => app.close());
    const found = features.map((each) => app.select(each).get(Feature, { strict: true }).locks);
    expect(found.map((locks) => locks.mutex('x').resource)).toEqual(['a:x', 'b:x']);
  });

  it('lets work go on for as long as drain says', async () => {
    const clock = simulatedClock();
    const store = memoryStore({ clock });
    const { app } = await start(rootOf(HoldfastModule.forRoot({ store, clock, drain: '5m' })));
    const begun = gate();
    const lock = app.get(Locks).mutex('a');
    const work = lock.run(() => {
      begun.open();
      return clock.sleep('4m');
    });
    await begun.opened;
    await Promise.all([app.close(), work]);
    clock.stop();
  });
});

describe('forRootAsync', () => {
  it('is given what other modules provide, and several are told apart by their names', async () => {
    const { app } = await start(shop.AsyncModule);
    const { locks } = app.get(shop.AsyncModule);
    const audit = app.get(shop.Audit).locks;
    expect(audit).not.toBe(locks);
    expect(app.get(locksToken('audit'), { strict: false })).toBe(audit);
    await locks.mutex('a').run(async ({ resource }) => {
      expect(resource).toBe('async:a');
      expect(await audit.mutex('a').run((lease) => lease.resource)).toBe('a');
    });
    await app.close();
    for (const each of [locks, audit]) {
      await expect(each.inspect('a')).rejects.toMatchObject({ code: 'CLOSED' });
    }
  });

  it('closes before what it is made of', async () => {
    const { app } = await start(shop.AsyncModule);
    const { closed } = app.get(shop.Config, { strict: false });
    const { locks } = app.get(shop.AsyncModule);
    const close = locks.close.bind(locks);
    locks.close = (options) => close(options).finally(() => closed.push('locks'));
    await app.close();
    expect(closed).toEqual(['locks', 'config']);
  });

  it('takes a store as it is', async () => {
    const made = HoldfastModule.forRootAsync({ useFactory: () => memoryStore() });
    const { app } = await start(rootOf(made));
    const lock = app.get(Locks).mutex('a');
    expect(await lock.run(() => 'locked')).toBe('locked');
  });
});

it('a test of an application puts other locks in the place of its own', async () => {
  process.env.LOCKS = 'redis://no.such.host';
  const { AppModule } = shop;
  const built = Test.createTestingModule({ imports: [AppModule] });
  const app = await built.overrideProvider(Locks).useValue(createLocks(memoryStore())).compile();
  await app.init();
  const locks = app.get(Locks);
  expect(await app.get(shop.Orders).ship('a')).toBe('sent a');
  await app.close();
  await expect(locks.inspect('a')).rejects.toMatchObject({ code: 'CLOSED' });
});

/** What JavaScript may do although the types refuse it. */
type Loose = (given?: unknown) => never;

describe('the module refuses', () => {
  const forRoot = HoldfastModule.forRoot as Loose;
  const forRootAsync = HoldfastModule.forRootAsync as Loose;

  it.each<[string, () => unknown, RegExp]>([
    ['nothing', () => forRoot(), /options of HoldfastModule must be an object/],
    ['options without a store', () => forRoot({}), /needs a store or the URL of one/],
    ['an option that does not exist', () => forRoot({ store: 'memory:', ttls: 1 }), /"ttls"/],
    ['an odd drain', () => forRoot({ store: 'memory:', drain: 'soon' }), /drain must be/],
    ['an empty name', () => forRoot({ store: 'memory:', name: '' }), /name/],
    ['an odd isGlobal', () => forRoot({ store: 'memory:', isGlobal: 1 }), /isGlobal/],
    ['no factory', () => forRootAsync({ inject: [] }), /needs a useFactory/],
    ['a store of its own', () => forRootAsync({ store: 'memory:' }), /no option "store"/],
    ['no locks', () => new LocksHealthIndicator({} as Locks), /takes Locks/],
  ])('%s', (_, make, message) => {
    expect(make).toThrow(expect.objectContaining({ code: 'USAGE' }));
    expect(make).toThrow(message);
  });

  it.each<[string, unknown, RegExp]>([
    ['a URL of no store', 'memroy:', /did you mean 'memory:'/],
    ['an odd option', { store: 'memory:', ttl: 1 }, /ttl must be at least/],
    ['what is no store', { store: {} }, /createLocks takes a store/],
  ])('%s, when the application starts', async (_, given, message) => {
    for (const made of [
      HoldfastModule.forRootAsync({ useFactory: () => given as Store }),
      HoldfastModule.forRoot(given as Store),
    ]) {
      await expect(NestFactory.create(rootOf(made) as never, QUIET)).rejects.toThrow(message);
    }
  });

  it('what a factory answers that is nothing', async () => {
    const made = HoldfastModule.forRootAsync({ useFactory: () => undefined as unknown as string });
    await expect(NestFactory.create(rootOf(made) as never, QUIET)).rejects.toMatchObject({
      code: 'USAGE',
    });
  });
});

describe('the filter of errors', () => {
  let error: unknown;
  class Failing {
    fail(): never {
      throw error;
    }
  }
  const method = Object.getOwnPropertyDescriptor(Failing.prototype, 'fail');
  Get('fail')(Failing.prototype, 'fail', method as PropertyDescriptor);
  Controller()(Failing);
  class Root {}
  const filter = { provide: APP_FILTER, useClass: LockExceptionFilter };
  Module({ controllers: [Failing], providers: [filter] })(Root);

  it.each<[string, Error, number, string | null]>([
    ['closed locks', new ClosedError(), 503, '10'],
    ['a lost lease, which is left to NestJS', new LeaseLostError('a', 'expired'), 500, null],
  ])('replies to %s', async (_, thrown, status, after) => {
    error = thrown;
    const { url } = await start(Root);
    const reply = await fetch(`${url}/fail`, { headers: { connection: 'close' } });
    expect([reply.status, reply.headers.get('retry-after')]).toEqual([status, after]);
  });

  it('does not tell who has the lock', async () => {
    error = new QueueFullError('a', 'at host b');
    const { url } = await start(Root);
    const reply = await fetch(`${url}/fail`, { headers: { connection: 'close' } });
    const body = { statusCode: 503, code: 'QUEUE_FULL', message: 'Busy: try again later.' };
    expect(await reply.json()).toEqual(body);
  });

  it('throws again what was not thrown in a request of HTTP', () => {
    const host = { getType: () => 'rpc', getArgByIndex: () => undefined };
    const thrown = new ClosedError();
    expect(() => new LockExceptionFilter().catch(thrown, host)).toThrow(thrown);
  });
});

describe('LockedCron', () => {
  class Job {
    readonly locks: Locks;
    runs = 0;

    constructor(locks: Locks) {
      this.locks = locks;
    }

    async build(): Promise<void> {
      this.runs += 1;
    }
  }

  it('skips the run of an instance whose clock is behind, and not the next one', async () => {
    const { clock, locks, other } = setUp();
    const [one, two] = [new Job(locks), new Job(other)];
    const decorate = LockedCron((self: Job) => self.locks, 'report', { minHold: '20s' });
    const context = { kind: 'method' } as ClassMethodDecoratorContext<Job>;
    const build = decorate(Job.prototype.build, context);
    await build.call(one);
    await clock.advance(10_000);
    await build.call(two);
    expect([one.runs, two.runs]).toEqual([1, 0]);
    await clock.advance(3_600_000);
    await build.call(two);
    expect([one.runs, two.runs]).toEqual([1, 1]);
  });

  it.each<[string, object | undefined, RegExp]>([
    ['no options', undefined, /LockedCron needs minHold/],
    ['no minHold', { maxHold: '6h' }, /LockedCron needs minHold/],
    ['a wait', { minHold: '20s', wait: '1s' }, /never waits/],
  ])('refuses %s', (_, options, message) => {
    const locks = createLocks(memoryStore());
    const decorate = () => LockedCron(locks, 'report', options as { minHold: '20s' });
    expect(decorate).toThrow(expect.objectContaining({ code: 'USAGE' }));
    expect(decorate).toThrow(message);
  });
});

describe('health', () => {
  it('is down when the store does not answer in time, or fails', async () => {
    const silent = Object.assign(memoryStore(), { inspect: () => new Promise<never>(() => {}) });
    const refuse = () => Promise.reject(new Error('no route'));
    const failing = Object.assign(memoryStore(), { inspect: refuse });
    const messages: unknown[] = [];
    for (const store of [silent, failing]) {
      const locks = createLocks(store);
      const health = await new LocksHealthIndicator(locks).isHealthy('store', { timeout: 20 });
      messages.push(health.store);
      await locks.close();
    }
    expect(messages).toMatchObject([
      { status: 'down', message: 'The store did not answer within 20 ms.' },
      { status: 'down', message: expect.stringContaining('no route') },
    ]);
  });

  it('refuses odd options', async () => {
    const locks = createLocks(memoryStore());
    const { isHealthy } = LocksHealthIndicator.prototype;
    const wrong = isHealthy.call(new LocksHealthIndicator(locks), 'a', { timeout: 'soon' as '1s' });
    await expect(wrong).rejects.toMatchObject({ code: 'USAGE' });
    await locks.close();
  });
});

/** A root module with these in it. */
function rootOf(...imports: object[]): object {
  class Root {}
  Module({ imports: imports as never[] })(Root);
  return Root;
}
