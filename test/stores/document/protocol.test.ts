import { type Store, systemClock } from 'holdfast';
import { type Documents, documentStore } from 'holdfast/document';
import type { Claim } from 'holdfast/store';
import { simulatedClock } from 'holdfast/testkit';
import { expect, it } from 'vitest';
import { claimOf as anyClaim } from '../../methods/faults/bed.ts';
import { until } from '../../support/until.ts';
import { Shelf } from './shelf.ts';

const claimOf = (over: Partial<Claim> = {}): Claim => anyClaim('r', { ttlMs: 9_000, ...over });

/** Stores on one shelf, and what may stand between them; one is there. */
function bed(slackMs: number | undefined, own: Partial<Documents> = {}) {
  const clock = simulatedClock();
  const shelf = new Shelf({ clock, slackMs });
  const documents = shelf.connect();
  const open = (over: Partial<Documents> = {}): Store =>
    documentStore({ ...documents, ...over }, { clock });
  return { clock, shelf, documents, open, store: open(own) };
}

const states = (statuses: readonly { readonly state: string }[]): string =>
  statuses.map(({ state }) => state).join(' ');

it('takes one request for a claim and one for a release that nobody contends', async () => {
  const { shelf, store } = bed(0);
  await store.release([claimOf()]);
  shelf.requests = 0;
  const claim = claimOf();
  expect(await store.claim([claim])).toMatchObject([{ state: 'held' }]);
  expect(await store.release([claim])).toEqual([true]);
  expect(shelf.requests).toBe(2);
});

it('takes all verbs that wait for a resource in one write', async () => {
  const { shelf, store } = bed(0);
  const claims = [1, 2, 3, 4].map(() => claimOf());
  const all = await Promise.all(claims.map((claim) => store.claim([claim])));
  expect(all.map(states)).toEqual(['held', 'waiting', 'waiting', 'waiting']);
  expect(shelf.requests).toBe(2);
});

it('knows a write of its own whose reply was lost', async () => {
  const { shelf, documents, open } = bed(0);
  const store = open({
    async put(key, text, onto) {
      await documents.put(key, text, onto);
      throw new Error('lost');
    },
  });
  const claim = claimOf();
  for (const verb of ['claim', 'renew'] as const) {
    const [status] = await store[verb]([claim]);
    expect(status).toMatchObject({ state: 'held', leftMs: expect.closeTo(claim.ttlMs, -2) });
  }
  // A read at first, and each write and what it left.
  expect(shelf.requests).toBe(1 + 2 * 2);
});

it('says that a release was one, whose reply was lost and another followed', async () => {
  const { documents, open } = bed(0);
  const other = open();
  let fails = false;
  const store = open({
    async put(key, text, onto) {
      const reply = await documents.put(key, text, onto);
      if (!fails) return reply;
      fails = false;
      await other.claim([claimOf()]);
      throw new Error('lost');
    },
  });
  const claim = claimOf();
  await store.claim([claim]);
  fails = true;
  expect(await store.release([claim])).toEqual([true]);
});

it('lets no late copy in after a release', async () => {
  const { shelf, documents, open } = bed(0);
  let late: (() => unknown) | undefined;
  let away = true;
  const store = open({
    async get(key) {
      if (late && away) throw new Error('away');
      return documents.get(key);
    },
    async put(key, text, onto) {
      if (late) return documents.put(key, text, onto);
      late = () => shelf.put(key, text, onto);
      throw new Error('no reply');
    },
  });
  const claim = claimOf();
  const [status] = await store.claim([claim]);
  expect(status).toMatchObject({ state: 'error', error: { outcome: 'unknown', retryable: true } });
  away = false;
  expect(await store.release([{ ...claim, unanswered: true }])).toEqual([false]);
  expect(late?.()).toBe('other');
  expect((await store.inspect('r')).holders).toEqual([]);
  expect(states(await store.claim([claim]))).toBe('gone');
});

it('refuses nothing because of what it remembers', async () => {
  const { open } = bed(0);
  const [one, two] = [open(), open()];
  const [first, second] = [claimOf(), claimOf()];
  await one.claim([first]);
  await two.claim([second]);
  await two.release([second]);
  await one.release([first]);
  expect(states(await two.claim([claimOf({ queue: false })]))).toBe('held');
});

it('writes nothing for a try that is refused', async () => {
  const { shelf, open } = bed(0);
  await open().claim([claimOf()]);
  const before = shelf.texts.get('r');
  expect(states(await open().claim([claimOf({ queue: false })]))).toBe('gone');
  expect(shelf.texts.get('r')).toBe(before);
});

it.each(['{', '{"any":1}', '{"holdfast":2,"resource":"r","write":"x"}', '[]'])(
  'fails for a resource with a foreign text, and for no other, and writes nothing: %s',
  async (text) => {
    const { shelf, store } = bed(0);
    shelf.texts.set('r', { text, version: 'v' });
    const [failed, good] = await store.claim([claimOf(), claimOf({ resource: 'other' })]);
    expect(failed).toMatchObject({ state: 'error', error: { retryable: false, code: 'STORE' } });
    expect(good).toMatchObject({ state: 'held' });
    expect(shelf.texts.get('r')).toEqual({ text, version: 'v' });
  },
);

it.each([
  ['nothing', undefined],
  ['null', null],
  ['the text alone', 'secret'],
  ['a list', []],
  ['a row of its own', { body: 'secret', etag: 'v' }],
  ['a reply of fetch', new Response()],
  ['a number as version', { text: 'secret', version: 1 }],
  ['a text without a version', { text: 'secret' }],
  ['null as text', { text: null, version: 'v' }],
  ['null as version', { version: null }],
])('refuses get() that returns %s, before it writes', async (_, found) => {
  const { shelf, store } = bed(undefined, { get: async () => found as never });
  const [status] = await store.claim([claimOf()]);
  const message = expect.stringMatching(/get\(\) of the documents shelf must return .*, not /);
  const cause = { code: 'USAGE', message };
  const error = { outcome: 'failed', retryable: false, cause };
  expect(status).toMatchObject({ state: 'error', error });
  expect(JSON.stringify(status)).not.toContain('secret');
  expect(shelf.requests).toBe(0);
});

it.each([
  ['nothing', undefined],
  ['false', false],
  ['no rows', []],
  ['a count', { rowCount: 0 }],
  ['a reply of fetch', new Response()],
  ['a number as version', { version: 1 }],
])('takes no put() that returns %s for a write', async (_, reply) => {
  const { store } = bed(undefined, { put: async () => reply as never });
  const [status] = await store.claim([claimOf()]);
  const message = expect.stringMatching(/put\(\) .* must return .*, not /);
  const cause = { code: 'USAGE', message };
  const error = { outcome: 'unknown', retryable: false, cause };
  expect(status).toMatchObject({ state: 'error', error });
});

it('takes no write for done that a StoreError of another copy of the package refuses', async () => {
  const error = { code: 'STORE', outcome: 'failed', retryable: false } as const;
  const brand = { [Symbol.for('holdfast.error')]: true };
  const put = () => Promise.reject(Object.assign(new Error('full'), error, brand));
  const [status] = await bed(0, { put }).store.claim([claimOf()]);
  expect(status).toMatchObject({ state: 'error', error });
});

it('refuses a text that goes by another clock, or that is damaged', async () => {
  const { shelf, open } = bed(0);
  await open().claim([claimOf()]);
  const { text = '' } = shelf.texts.get('r') ?? {};
  const [observed] = await open({ slackMs: undefined as never }).claim([claimOf()]);
  expect(observed).toMatchObject({ state: 'error', error: { retryable: false } });
  shelf.texts.set('r', { text: text.replace('"permits":1', '"permits":0'), version: 'w' });
  const [damaged] = await open().claim([claimOf()]);
  expect(damaged).toMatchObject({ error: { message: expect.stringContaining('malformed') } });
});

it.each([
  { how: 'gone', slackMs: 0, back: false },
  { how: 'gone, without a clock', slackMs: undefined, back: false },
  { how: 'an older one', slackMs: 0, back: true },
])('tells of a document that is $how, and counts on', async ({ slackMs, back }) => {
  const { shelf, store } = bed(slackMs);
  await store.release([claimOf()]);
  const older = shelf.texts.get('r');
  const claim = claimOf();
  await store.claim([claim]);
  const far = 10n ** 20n;
  await store.raise?.([claim], [far]);
  shelf.texts.clear();
  if (older && back) shelf.texts.set('r', older);
  // What is remembered is refused at the write, and then read.
  expect(await store.renew([claim])).toMatchObject([{ state: 'gone', why: 'store-reset' }]);
  const [after] = await store.claim([claimOf()]);
  expect(after?.state === 'held' && after.token > far).toBe(true);
});

it('gives up a request that gets no reply, and the next one goes on', async () => {
  const { clock, documents, open } = bed(0);
  let silent = true;
  const store = open({ get: (key) => (silent ? new Promise(() => {}) : documents.get(key)) });
  const claim = claimOf();
  const from = clock.now();
  expect(await store.claim([claim])).toMatchObject([
    { error: { outcome: 'failed', retryable: true } },
  ]);
  expect(clock.now() - from).toBe(claim.ttlMs / 3);
  silent = false;
  expect(states(await store.claim([claim]))).toBe('held');
});

it('watches again where it was refused, and wakes those that missed a change', async () => {
  // The next try comes by the real clock.
  const documents = new Shelf({ clock: systemClock(), slackMs: 0, watches: true }).connect();
  const other = documentStore(documents);
  let tries = 0;
  const store = documentStore({
    ...documents,
    async watch(key, changed) {
      if (tries++ === 0) throw new Error('refused');
      return (await documents.watch?.(key, changed)) as AsyncDisposable;
    },
  });
  const [holds, waits] = [claimOf(), claimOf()];
  await other.claim([holds]);
  const told: (string | undefined)[] = [];
  await store.watch?.(waits, (status) => told.push(status?.state));
  expect(states(await store.claim([waits]))).toBe('waiting');
  await other.release([holds]);
  await until('was it woken', async () => told.length > 0);
  expect({ tries, told }).toEqual({ tries: 2, told: ['held'] });
  await Promise.all([store.close?.(), other.close?.()]);
});

it.each([0, undefined])('removes what says no more than the time does, %s', async (slackMs) => {
  const { clock, shelf, store } = bed(slackMs);
  const claim = claimOf({ ttlMs: 1_000 });
  await store.claim([claim]);
  await store.release([claim]);
  await clock.sleep(130_000);
  expect(shelf.texts.size).toBe(slackMs === undefined ? 1 : 0);
});

it.each(['the process that sent it', 'another, which has seen it'])(
  'takes a claim that died before it was answered, and came again, for alive: %s',
  async (who) => {
    const { clock, documents, open } = bed(undefined);
    let silent = false;
    const store = open({
      async put(key, text, onto) {
        const reply = await documents.put(key, text, onto);
        if (silent) throw new Error('no reply');
        return reply;
      },
      async get(key) {
        if (silent) throw new Error('away');
        return documents.get(key);
      },
    });
    const rival = who.startsWith('another') ? open() : store;
    const claim = claimOf();
    await store.release([claimOf()]);
    silent = true;
    expect(states(await store.claim([claim]))).toBe('error');
    silent = false;
    await rival.inspect('r');
    await clock.sleep(claim.ttlMs * 1.02);
    const [again] = await store.claim([claim]);
    expect(again).toMatchObject({ state: 'held', leftMs: claim.ttlMs });
    await clock.sleep(claim.ttlMs * 0.9);
    expect(states(await rival.claim([claimOf()]))).toBe('waiting');
    await clock.sleep(claim.ttlMs * 1.02);
    expect(states(await rival.claim([claimOf()]))).toBe('held');
  },
);

it('takes a dead holder for alive until it has watched it for its TTL', async () => {
  const { clock, open } = bed(undefined);
  await open().claim([claimOf({ ttlMs: 1_000 })]);
  await clock.sleep(5_000);
  const late = open();
  const attempt = async (): Promise<string> =>
    states(await late.claim([claimOf({ queue: false })]));
  expect(await attempt()).toBe('gone');
  await clock.sleep(1_005);
  expect(await attempt()).toBe('gone');
  await clock.sleep(6);
  expect(await attempt()).toBe('held');
});
