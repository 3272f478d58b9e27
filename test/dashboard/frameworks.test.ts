/** The dashboard below a path of each framework, behind the parsers of bodies that it has. */
import 'reflect-metadata';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import express from 'express';
import { fastify } from 'fastify';
import { createLocks, type Locks } from 'holdfast';
import { type Dashboard, dashboard } from 'holdfast/dashboard';
import { memoryStore } from 'holdfast/memory';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ask, BEARER, fromPage, Page, soon, TOKEN } from './bed.ts';

interface Running {
  readonly url: string;
  close(): Promise<unknown>;
}

type Mount = (shown: Dashboard) => Promise<Running>;

async function listen(listener: Parameters<typeof createServer>[1]): Promise<Running> {
  const server = createServer(listener).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const close = (): Promise<unknown> => {
    const closed = once(server, 'close');
    server.close();
    return closed;
  };
  return { url: `http://127.0.0.1:${port}`, close };
}

const onNode: Mount = (shown) =>
  listen((request, response) => {
    if (request.url?.startsWith('/admin/locks')) shown(request, response);
    else response.writeHead(404).end();
  });

const onExpress: Mount = (shown) => {
  const app = express();
  app.use(express.json());
  app.use('/admin/locks', shown);
  return listen(app);
};

const onFastify: Mount = async (shown) => {
  const app = fastify();
  app.register(async (scope) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _payload, done) => done(null));
    scope.all('/admin/locks*', (request, reply) => {
      reply.hijack();
      shown(request.raw, reply.raw);
    });
  });
  return { url: await app.listen({ port: 0, host: '127.0.0.1' }), close: () => app.close() };
};

const onNest: Mount = async (shown) => {
  class AppModule {}
  Module({})(AppModule);
  const app = await NestFactory.create(AppModule, { logger: false });
  app.use('/admin/locks', shown);
  await app.listen(0, '127.0.0.1');
  return { url: await app.getUrl(), close: () => app.close() };
};

describe.each<[string, Mount]>([
  ['node:http', onNode],
  ['Express', onExpress],
  ['Fastify', onFastify],
  ['NestJS', onNest],
])('below a path of %s', (_, mount) => {
  async function start(): Promise<{ locks: Locks; running: Running; url: string }> {
    const locks = createLocks(memoryStore());
    const shown = dashboard(locks, { auth: TOKEN, readOnly: false, every: 100 });
    const running = await mount(shown);
    onTestFinished(async () => {
      await locks.close({ drain: 0 });
    });
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
    await soon(() => page.rows.has('stock')).toBe(true);
    const wanted = {
      name: 'stock',
      token: `${lease.token}`,
      typed: 'stock',
      reason: 'a',
      now: true,
    };
    const asking = { method: 'POST', headers: fromPage(url), body: JSON.stringify(wanted) };
    expect((await ask(`${url}evict`, asking)).text).toBe('{"evicted":true}');
    const headers = { 'content-type': 'application/x-www-form-urlencoded', origin: running.url };
    const login = { method: 'POST', headers, body: `token=${encodeURIComponent(TOKEN)}` };
    expect((await ask(`${url}login`, login)).status).toBe(303);
    page.leave();
    await running.close();
  });

  it('lets its server close while a page is open', async () => {
    const { running, url } = await start();
    const page = new Page(url);
    await soon(() => page.isLoaded).toBe(true);
    await running.close();
    await soon(() => page.ended).toBe(true);
  });
});
