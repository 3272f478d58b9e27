/** The dashboard below a path of each framework, behind the parsers of bodies that it has. */
import 'reflect-metadata';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import express, { type Express } from 'express';
import { type FastifyInstance, fastify } from 'fastify';
import { createLocks, type Locks } from 'holdfast';
import { type Dashboard, dashboard } from 'holdfast/dashboard';
import { memoryStore } from 'holdfast/memory';
import { describe, expect, it, onTestFinished } from 'vitest';
import { expectShown } from '../methods/guide/shown.ts';
import { portOf } from '../support/listening.ts';
import { ask, BEARER, evict, evictionOf, Page, TOKEN } from './bed.ts';

type Running = { readonly url: string; close(): Promise<unknown> };

type Mount = (shown: Dashboard) => Promise<Running>;

async function listen(server: Server): Promise<Running> {
  const port = await portOf(server);
  const close = (): Promise<unknown> => {
    const closed = once(server, 'close');
    server.close();
    return closed;
  };
  return { url: `http://127.0.0.1:${port}`, close };
}

function serve(locks: Locks): Server {
  const shown = dashboard(locks, { auth: process.env.DASHBOARD_TOKEN ?? '' });
  return createServer((request, response) => {
    if (request.url?.startsWith('/admin/locks')) shown(request, response);
    else response.writeHead(404).end();
  });
}

function mountOnExpress(app: Pick<Express, 'use'>, shown: Dashboard): void {
  app.use('/admin/locks', shown);
}

function mountOnFastify(app: FastifyInstance, shown: Dashboard): void {
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
    scope.all('/admin/locks*', (request, reply) => {
      reply.hijack();
      shown(request.raw, reply.raw);
    });
  });
}

const onExpress: Mount = (shown) => {
  const app = express();
  // As parsers of Express 4 do where they read nothing.
  app.use((request, _response, next) => {
    request.body ??= {};
    next();
  });
  app.use(express.json());
  mountOnExpress(app, shown);
  return listen(createServer(app));
};

const onFastify: Mount = async (shown) => {
  const app = fastify();
  mountOnFastify(app, shown);
  return { url: await app.listen({ port: 0, host: '127.0.0.1' }), close: () => app.close() };
};

const onNest: Mount = async (shown) => {
  class AppModule {}
  Module({})(AppModule);
  const app = await NestFactory.create(AppModule, { logger: false });
  mountOnExpress(app as never, shown);
  await app.listen(0, '127.0.0.1');
  return { url: await app.getUrl(), close: () => app.close() };
};

describe.each<[string, Mount]>([
  ['Express', onExpress],
  ['Fastify', onFastify],
  ['NestJS', onNest],
])('below a path of %s', (_, mount) => {
  async function start() {
    const locks = createLocks(memoryStore());
    const running = await mount(dashboard(locks, { auth: TOKEN, readOnly: false, every: 100 }));
    onTestFinished(() => locks.close({ drain: 0 }));
    return { locks, running, url: `${running.url}/admin/locks/` };
  }

  it('shows the page, the queues, and evicts', async () => {
    const { locks, running, url } = await start();
    const bare = await ask(`${running.url}/admin/locks`, { headers: BEARER });
    expect(bare).toMatchObject({ status: 308, headers: { location: './locks/' } });
    expect((await ask(url, { headers: BEARER })).text).toContain('<script src="app.js"');
    expect((await ask(`${url}app.js`)).headers['content-type']).toMatch('text/javascript');
    const lease = await locks.mutex('stock').acquire();
    const page = new Page(url);
    await expect.poll(() => page.rows.has('stock')).toBe(true);
    const evicted = await evict(url, evictionOf('stock', lease.token));
    expect(evicted.text).toBe('{"evicted":true}');
    const headers = { 'content-type': 'application/x-www-form-urlencoded', origin: running.url };
    const login = { method: 'POST', headers, body: `token=${encodeURIComponent(TOKEN)}` };
    expect((await ask(url, login)).status).toBe(303);
    page.leave();
    await running.close();
  });

  it('lets its server close while a page is open', async () => {
    const { running, url } = await start();
    const page = await Page.loaded(url);
    await running.close();
    await expect.poll(() => page.ended).toBe(true);
  });
});

it('below a path of node:http, with the token of the environment, it only shows', async () => {
  const locks = createLocks(memoryStore());
  onTestFinished(() => locks.close({ drain: 0 }));
  expect(() => serve(locks)).toThrow(expect.objectContaining({ code: 'USAGE' }));
  process.env.DASHBOARD_TOKEN = TOKEN;
  const running = await listen(serve(locks));
  delete process.env.DASHBOARD_TOKEN;
  const url = `${running.url}/admin/locks/`;
  expect((await ask(url, { headers: BEARER })).text).toContain('<script src="app.js"');
  expect((await ask(url)).status).toBe(401);
  expect((await evict(url, {})).status).toBe(403);
  await running.close();
});

it('the guide shows what is tested here', () => {
  expectShown('dashboard.md', new URL(import.meta.url));
});
