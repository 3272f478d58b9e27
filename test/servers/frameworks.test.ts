/**
 * The examples of frameworks, each with its framework. The project does not depend on those that it
 * tests nowhere else: exact versions are fetched from the npm registry once.
 */
import 'reflect-metadata';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { NestFactory } from '@nestjs/core';
import * as holdfast from 'holdfast';
import { createLocks, type Locks } from 'holdfast';
import * as connecting from 'holdfast/connect';
import { memoryStore } from 'holdfast/memory';
import * as nestjs from 'holdfast/nestjs';
import * as nodeCron from 'holdfast/node-cron';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { fetchModules } from '../../scripts/package/tools.ts';
import { databaseFile } from '../methods/processes/child.ts';
import { closing } from '../support/closing.ts';
import { gate } from '../support/gate.ts';
import { portOf } from '../support/listening.ts';
import { loadDecorated } from '../support/load-decorated.ts';
import { startPostgres } from './postgres-server.ts';
import { RedisServer } from './redis-server.ts';

const VERSIONS = {
  ...{ agenda: '6.2.6', '@agendajs/postgres-backend': '3.0.6' },
  ...{ bullmq: '6.7.0', hono: '4.13.19', 'node-cron': '4.6.0' },
  ...{ '@nestjs/schedule': '6.1.3', '@nestjs/platform-fastify': '11.2.6' },
  // The last that run on Node 20.
  ...{ '@adonisjs/core': '6.21.0', 'pg-boss': '10.4.2' },
};
const folder = await fetchModules('frameworks', VERSIONS, '--legacy-peer-deps');
const installed = createRequire(join(folder, 'package.json'));

// biome-ignore lint/suspicious/noExplicitAny: packages whose types are not here.
type Untyped = any;

const QUIET = { logger: false } as const;

/** What the work of the examples did; it ends when the gate is open. */
let log: string[];
let going = gate();
/** What Next.js would do behind the response. */
let later: Promise<unknown>[];

async function ship(order: string): Promise<string> {
  log.push(`begin ${order}`);
  await going.opened;
  log.push(`end ${order}`);
  return `sent ${order}`;
}

/** Of two instances, on one store. */
let two: readonly Locks[];
/** For what they asked. */
let asked: string[];
let others: Locks;

beforeEach(() => {
  [log, later, asked, going] = [[], [], [], gate()];
  const store = memoryStore();
  others = createLocks(store);
  two = ['one', 'two'].map((label) => createLocks(store, { label }));
  for (const locks of two) locks.on('acquiring', ({ resource }) => asked.push(resource));
  process.env.LOCKS = 'memory:';
});

afterEach(async () => {
  delete process.env.LOCKS;
  await Promise.all([others, ...two].map((locks) => locks.close({ drain: 0 })));
});

function load(name: string): Untyped {
  const after = (task: () => Promise<unknown>) => void later.push(task());
  const library = {
    ...{ holdfast, 'holdfast/connect': connecting, 'holdfast/nestjs': nestjs },
    ...{ 'holdfast/node-cron': nodeCron, './ship.ts': { ship }, 'next/server': { after } },
  };
  const file = new URL(`../../examples/frameworks/${name}.ts`, import.meta.url);
  return loadDecorated<Untyped>(file, { decorators: 'legacy', library, installed });
}

describe('jobs of one customer take turns', () => {
  const jobs = ['a1', 'a2'].map((order) => ({ customer: 'a', order }));

  async function expectTurns(): Promise<void> {
    await expect.poll(() => asked).toEqual(['customer:a', 'customer:a']);
    await expect.poll(() => log.length).toBe(1);
    going.open();
    await expect.poll(() => log.length).toBe(4);
    expect(log.map((line) => line.split(' ', 1)[0])).toEqual(['begin', 'end', 'begin', 'end']);
    expect([...log].sort()).toEqual(['begin a1', 'begin a2', 'end a1', 'end a2']);
  }

  test('in BullMQ', async () => {
    const server = closing(await RedisServer.start());
    const connection = { host: server.host, port: server.port };
    const { Queue } = installed('bullmq') as Untyped;
    const queue = new Queue('orders', { connection });
    const workers = two.map((locks) => load('bullmq').orderWorker(locks, connection));
    await queue.addBulk(jobs.map((data) => ({ name: 'order', data })));
    await expectTurns();
    await Promise.all([...workers, queue].map((each) => each.close()));
  });

  test('in Agenda', async () => {
    const server = closing(await startPostgres());
    const { Agenda } = installed('agenda') as Untyped;
    const { PostgresBackend } = installed('@agendajs/postgres-backend') as Untyped;
    const agendas: Untyped[] = [];
    for (const locks of two) {
      const agenda = new Agenda({
        backend: new PostgresBackend({ connectionString: server.url }),
        processEvery: '1 second',
      });
      load('agenda').defineOrders(agenda, locks);
      await agenda.start();
      agendas.push(agenda);
    }
    for (const data of jobs) await agendas[0].now('order', data);
    await expectTurns();
    for (const agenda of agendas) await agenda.stop();
  });

  test('in pg-boss', async () => {
    const server = closing(await startPostgres());
    const PgBoss = installed('pg-boss') as Untyped;
    const bosses: Untyped[] = [];
    for (const locks of two) {
      const boss = new PgBoss(server.url);
      boss.on('error', (error: Error) => log.push(error.message));
      await boss.start();
      await load('pg-boss').workOnOrders(boss, locks);
      bosses.push(boss);
    }
    for (const data of jobs) await bosses[0].send('orders', data);
    await expectTurns();
    for (const boss of bosses) await boss.stop({ graceful: false });
  });
});

describe('of all instances, one runs', () => {
  test('each tick of node-cron', async () => {
    going.open();
    const ran: string[] = [];
    const skipped: string[] = [];
    const reasons = new Set<string>();
    const tasks = two.map((locks) => load('node-cron').nightlyReport(locks, '* * * * * *'));
    for (const task of tasks) {
      task.on('execution:finished', ({ dateLocalIso }: Untyped) => ran.push(dateLocalIso));
      task.on('execution:skipped', ({ dateLocalIso, reason }: Untyped) => {
        skipped.push(dateLocalIso);
        reasons.add(reason);
      });
    }
    await expect.poll(() => skipped.length).toBeGreaterThan(2);
    for (const task of tasks) task.stop();
    await expect.poll(() => ran).toEqual(expect.arrayContaining(skipped));
    expect(new Set(ran).size).toBe(ran.length);
    expect([...reasons]).toEqual(['not-elected']);
    for (const task of tasks) task.destroy();
  });

  test('a job of @nestjs/schedule', async () => {
    going.open();
    process.env.LOCKS = `sqlite:${databaseFile()}`;
    const { SchedulerRegistry } = installed('@nestjs/schedule') as Untyped;
    const { AppModule } = load('nestjs');
    for (const _ of two) {
      const app = closing(await NestFactory.create(AppModule, QUIET));
      await app.init();
      await app.get(SchedulerRegistry).getCronJob('report').fireOnTick();
    }
    expect(log).toEqual(['begin report', 'end report']);
  });

  test('a call of Lambda', async () => {
    const { handler } = load('lambda');
    const first = handler({ order: 'a' });
    await expect.poll(() => log).toEqual(['begin a']);
    expect(await handler({ order: 'a' })).toEqual({ statusCode: 409 });
    going.open();
    expect(await first).toEqual({ statusCode: 200 });
  });
});

describe('a request for an order that is being shipped is told so', () => {
  const path = '/orders/a/ship';

  /** Not kept for the next request, which would delay the end of a server. */
  const ask = (url: string): Promise<Response> =>
    fetch(url + path, { method: 'POST', headers: { connection: 'close' } });

  async function expectBusy(locks: Locks, post: () => Promise<Response>): Promise<void> {
    going.open();
    const lease = await locks.mutex('order:a').acquire();
    const busy = await post();
    expect([busy.status, busy.headers.get('retry-after')]).toEqual([409, '5']);
    await lease.release();
    expect((await post()).ok).toBe(true);
    expect(log).toEqual(['begin a', 'end a']);
  }

  test('by Fastify', async () => {
    const app = closing(load('fastify').orderServer(two[0]));
    const url = await app.listen({ port: 0, host: '127.0.0.1' });
    await expectBusy(others, () => ask(url));
  });

  test('by Hono', async () => {
    const app = load('hono').orderServer(two[0]);
    await expectBusy(others, () => app.request(path, { method: 'POST' }));
  });

  test.each(['Express', 'Fastify'])('by NestJS on %s', async (platform) => {
    process.env.LOCKS = `sqlite:${databaseFile()}`;
    const { FastifyAdapter } = installed('@nestjs/platform-fastify') as Untyped;
    const { AppModule } = load('nestjs');
    const server = platform === 'Fastify' ? [new FastifyAdapter()] : [];
    const app = closing(await NestFactory.create(AppModule, ...server, QUIET));
    await app.listen(0, '127.0.0.1');
    const url = await app.getUrl();
    const elsewhere = closing(await connecting.connect(process.env.LOCKS));
    await expectBusy(elsewhere, () => ask(url));
  });

  test('by Next.js, until the work behind the response is done', async () => {
    const { POST } = load('next');
    const body = JSON.stringify({ id: 'a' });
    const post = (): Promise<Response> =>
      POST(new Request('http://shop/orders', { method: 'POST', body }));
    expect((await post()).status).toBe(202);
    const busy = await post();
    expect([busy.status, busy.headers.get('retry-after')]).toEqual([409, '5']);
    going.open();
    await Promise.all(later);
    expect((await post()).status).toBe(202);
    await Promise.all(later);
  });

  test('by AdonisJS', async () => {
    const { AppFactory } = installed('@adonisjs/core/factories/app') as Untyped;
    const { ServerFactory } = installed('@adonisjs/core/factories/http') as Untyped;
    const { HttpExceptionHandler, LocksProvider, OrdersController } = load('adonis');
    const app = new AppFactory().create(pathToFileURL(`${folder}/`), () => {});
    await app.init();
    const provider = new LocksProvider(app);
    provider.register();
    const locks: Locks = await app.container.make(holdfast.Locks);
    const orders = new OrdersController(locks);
    const server = new ServerFactory().merge({ app }).create();
    server.getRouter().post('/orders/:id/ship', (context: Untyped) => orders.ship(context));
    server.errorHandler(async () => ({ default: HttpExceptionHandler }));
    await server.boot();
    const http = createServer(server.handle.bind(server));
    const port = await portOf(http);
    await expectBusy(locks, () => ask(`http://127.0.0.1:${port}`));
    await provider.shutdown();
    await expect(locks.inspect('a')).rejects.toMatchObject({ code: 'CLOSED' });
    http.close();
  });
});
