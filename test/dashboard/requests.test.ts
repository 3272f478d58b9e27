/** Who may look, and what may change something. */
import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { text as textFrom } from 'node:stream/consumers';
import { createLocks, UsageError } from 'holdfast';
import { dashboard } from 'holdfast/dashboard';
import { memoryStore } from 'holdfast/memory';
import { aroundStore } from 'holdfast/testkit';
import { describe, expect, it, onTestFinished } from 'vitest';
import { fromLoopback } from '../../src/dashboard/auth.ts';
import type { Bed } from './bed.ts';
import { ask, BEARER, evict, evictionOf, fromPage, Page, start, TOKEN } from './bed.ts';

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

describe('before it starts', () => {
  const locks = createLocks(memoryStore());
  it.each([
    ['no auth', {}],
    ['a missing variable', { auth: undefined }],
    ['a short token', { auth: 'secret' }],
    ['true', { auth: true }],
    ['looking too often', { auth: TOKEN, every: 10 }],
    ['half a flag', { auth: TOKEN, readOnly: 'no' }],
    ['an unknown option', { auth: TOKEN, insecure: true }],
  ])('it refuses %s', (_, options) => {
    const starts = () => dashboard(locks, options as never);
    expect(starts).toThrow(UsageError);
  });

  it('it refuses a store that cannot list names', () => {
    const { list: _, ...store } = aroundStore(memoryStore(), (__, next) => next());
    const starts = () => dashboard(createLocks(store), { auth: TOKEN });
    expect(starts).toThrow(expect.objectContaining({ code: 'UNSUPPORTED' }));
  });
});

describe('looking', () => {
  it.each(['', 'events', 'record?name=once:a', 'a.html'])('needs auth: GET %s', async (path) => {
    const { url, store } = await start();
    for (const headers of [{}, { authorization: 'Bearer another' }, { cookie: 'holdfast-x=y' }]) {
      const { status, text } = await ask(url + path, { headers });
      expect(status).toBe(401);
      // Nowhere but in the folder, and back to where it is, or it sends the token elsewhere.
      expect(text.includes('<form method="post">')).toBe(path === '');
    }
    expect(store.total()).toBe(0);
  });

  it('trades the token for a cookie that no other site and no script can use', async () => {
    const { url } = await start();
    const headers = { ...FORM, origin: new URL(url).origin };
    const wrong = await ask(url, { method: 'POST', headers, body: 'token=wrong' });
    expect(wrong.status).toBe(401);
    expect(wrong.headers['set-cookie']).toBeUndefined();
    const right = await ask(url, { method: 'POST', headers, body: `token=${TOKEN}` });
    expect(right.status).toBe(303);
    const [cookie = ''] = right.headers['set-cookie'] ?? [];
    expect(cookie).toMatch(/^holdfast-\w{8}=\w{64}; HttpOnly; SameSite=Strict$/);
    expect(cookie).not.toContain(TOKEN);
    const [pair = ''] = cookie.split(';');
    const session = { cookie: `a=b; ${pair}` };
    expect((await ask(url, { headers: session })).status).toBe(200);
    const proxied = { ...session, authorization: 'Bearer of-a-proxy' };
    expect((await ask(url, { headers: proxied })).status).toBe(200);
    const from = { ...FORM, origin: 'https://elsewhere.example' };
    const other = { method: 'POST', headers: from, body: `token=${TOKEN}` };
    expect((await ask(url, other)).status).toBe(403);
  });

  it.each([
    ['false', () => false],
    ['something else than true', () => 'yes' as never],
    ['a rejection', () => Promise.reject(new Error('directory away'))],
  ])('a function lets no request in that it answers with %s', async (_, auth) => {
    const { url } = await start({ auth });
    const { status, text } = await ask(url);
    expect(status).toBe(401);
    expect(text).not.toContain('name="token"');
  });

  it('a function lets requests in', async () => {
    const { url } = await start({ auth: async ({ headers }) => headers['x-user'] === 'ann' });
    expect((await ask(url, { headers: { 'x-user': 'ann' } })).status).toBe(200);
    expect((await ask(url, { headers: { 'x-user': 'bob' } })).status).toBe(401);
  });

  it('every answer forbids all that is not from the page itself', async () => {
    const { url } = await start();
    for (const path of ['', 'app.js', 'app.css', 'icon.svg', 'gone.html', 'record?name=once:a']) {
      const { headers } = await ask(url + path, { headers: BEARER });
      expect(headers['content-security-policy']).toMatch(/^default-src 'none'; script-src 'self';/);
      expect(headers['content-security-policy']).not.toMatch(/unsafe|\*|data:/);
      expect(headers['x-content-type-options']).toBe('nosniff');
      // With 'no-referrer' browsers hide where the form for the token comes from.
      expect(headers['referrer-policy']).toBe('same-origin');
    }
  });

  it('leads from its path to the folder, and nowhere else, with auth and without', async () => {
    const { url } = await start();
    const to = async (path: string) => (await ask(url + path)).headers.location;
    expect((await ask(url.slice(0, -1), { headers: BEARER })).headers.location).toBe('./locks/');
    expect(await to('deeper')).toBe('./deeper/');
    expect(await to('https:elsewhere')).toBe('./https:elsewhere/');
  });
});

it('is open on loopback, but not to other names and what a proxy passes on', async () => {
  const { url } = await start({ auth: fromLoopback });
  const status = async (headers: Record<string, string>) => (await ask(url, { headers })).status;
  expect(await status({ host: 'localhost:80' })).toBe(200);
  expect(await status({ host: '[::1]' })).toBe(200);
  for (const host of ['elsewhere.example', '127.0.0.1.elsewhere.example', '10.0.0.1:80']) {
    expect(await status({ host })).toBe(401);
  }
  for (const name of ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip']) {
    expect(await status({ [name]: 'a' })).toBe(401);
  }
  const { port, host } = new URL(url);
  const old = connect(Number(port), '127.0.0.1');
  old.write(`GET / HTTP/1.0\r\nHost: ${host}\r\n\r\n`);
  expect(await textFrom(old)).toMatch(/^HTTP\/1\.1 401/);
});

it('says that a body is too long, wherever one is read', async () => {
  const { url } = await start({ readOnly: false });
  for (const [path, headers] of [
    ['evict', fromPage(url)],
    ['', { ...FORM, origin: new URL(url).origin }],
  ] as const) {
    const reply = await ask(`${url}${path}`, { method: 'POST', headers, body: 'x'.repeat(20_000) });
    expect([path, reply.status, reply.headers.connection]).toEqual([path, 413, 'close']);
    expect(reply.text).toMatch(/more than \d+ bytes/);
  }
});

it('warns of nothing when a body is broken off', async () => {
  const { url, server } = await start();
  const warnings: Error[] = [];
  // Others in this process may cause warnings, too.
  const warned = (warning: Error & { code?: string }): void => {
    if (warning.code === 'ECONNRESET') warnings.push(warning);
  };
  process.on('warning', warned);
  onTestFinished(() => void process.off('warning', warned));
  const served = once(server, 'request');
  const headers = { ...FORM, origin: new URL(url).origin, 'content-length': '9' };
  const sent = request(url, { method: 'POST', headers, agent: false });
  sent.on('error', () => {}).write('token');
  const [{ socket }] = await served;
  sent.destroy();
  await expect.poll(() => socket.destroyed).toBe(true);
  expect((await ask(url)).status).toBe(401);
  expect(warnings).toEqual([]);
});

describe('evicting', () => {
  const NAME = 'stock';

  async function held(options: Parameters<typeof start>[0]): Promise<Bed & { body: object }> {
    const bed = await start(options);
    const lease = await bed.others.mutex(NAME).acquire();
    const [holder] = (await bed.locks.inspect(NAME)).holders;
    expect(holder?.number).toBe(lease.token);
    return { ...bed, body: evictionOf(NAME, lease.token) };
  }

  const holders = async ({ locks }: Bed): Promise<number> =>
    (await locks.inspect(NAME)).holders.length;

  it('is refused by default', async () => {
    const bed = await held({});
    expect((await evict(bed.url, bed.body)).status).toBe(403);
    expect(await holders(bed)).toBe(1);
  });

  it('evicts with a reason, which the timeline has', async () => {
    const bed = await held({ readOnly: false });
    const page = await Page.loaded(bed.url);
    const lost = new Promise<string | undefined>((resolve) => {
      bed.others.on('lost', ({ detail }) => resolve(detail));
    });
    expect((await evict(bed.url, bed.body)).status).toBe(200);
    expect(await lost).toBe('it hangs');
    await expect.poll(() => page.told).toContain('stock evicted');
    await expect.poll(() => page.rows.has(NAME)).toBe(false);
    expect(page.told).not.toContain('stock gone');
    expect((await evict(bed.url, bed.body)).status).toBe(404);
  });

  it.each<[string, number, Record<string, string | undefined>, object?]>([
    ['without auth', 401, { authorization: undefined }],
    ['from no page', 403, { origin: undefined }],
    ['from a page elsewhere', 403, { origin: 'https://elsewhere.example' }],
    ['from a page without an origin', 403, { origin: 'null' }],
    ['where the browser says so', 403, { 'sec-fetch-site': 'cross-site' }],
    ['from another host of the site', 403, { 'sec-fetch-site': 'same-site' }],
    ['as a form', 415, { 'content-type': 'text/plain' }],
    ['with another name typed', 400, {}, { typed: 'stick' }],
    ['with no name typed', 400, {}, { typed: undefined }],
    ['with no reason', 400, {}, { reason: '' }],
    ['with a long reason', 400, {}, { reason: 'x'.repeat(2_000) }],
    ['with no number', 400, {}, { token: '1e3' }],
    ['with a number', 400, {}, { token: 1 }],
  ])('is refused %s', async (_, status, others, body = {}) => {
    const bed = await held({ readOnly: false });
    const headers = Object.entries({ ...fromPage(bed.url), ...others });
    const given = headers.flatMap(([key, value]) => (value === undefined ? [] : [[key, value]]));
    const sent = await evict(bed.url, { ...bed.body, ...body }, Object.fromEntries(given));
    expect(sent.status).toBe(status);
    expect(await holders(bed)).toBe(1);
  });

  it('is refused without JSON', async () => {
    const bed = await held({ readOnly: false });
    for (const body of ['{', 'null', '7']) {
      const asking = { method: 'POST', headers: fromPage(bed.url), body };
      expect((await ask(`${bed.url}evict`, asking)).status).toBe(400);
    }
    expect((await ask(`${bed.url}evict`, { headers: BEARER })).status).toBe(308);
  });
});
