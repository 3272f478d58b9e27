/** What other processes report: who may, and what is taken. */
import { createLocks } from 'holdfast';
import { dashboard, reportTo } from 'holdfast/dashboard';
import { memoryStore } from 'holdfast/memory';
import { describe, expect, it } from 'vitest';
import { History } from '../../src/dashboard/history.ts';
import { Outbox } from '../../src/dashboard/reports/outbox.ts';
import { Receiver } from '../../src/dashboard/reports/receiver.ts';
import type { Report, ReportBatch, Who } from '../../src/dashboard/wire.ts';
import { ask, BEARER, type Bed, Page, soon, start, TOKEN } from './bed.ts';

const REPORTS = 'a-token-of-the-tills';
const HEADERS = { authorization: `Bearer ${REPORTS}`, 'content-type': 'application/json' };

const REPORT: ReportBatch['reports'][number] = {
  ...{ resource: 'shop:stock', what: 'granted', token: '1024', detail: null, handOffMs: null },
  at: 1_000,
};
const BATCH: ReportBatch = {
  ...{ reporter: 'r', host: 'till-1', pid: 7, label: null, first: 0, now: 1_500 },
  reports: [REPORT],
};

const send = ({ url }: Bed, body: unknown, headers: Record<string, string> = HEADERS) =>
  ask(`${url}events`, { method: 'POST', headers, body: JSON.stringify(body) });

async function loaded({ url }: Bed): Promise<Page> {
  const page = new Page(url);
  await soon(() => page.isLoaded).toBe(true);
  return page;
}

it('tells what another process does exactly, with reasons, and each thing once', async () => {
  const bed = await start({ reports: REPORTS, readOnly: false });
  const reporter = reportTo(bed.others, { url: bed.url, token: REPORTS });
  const page = await loaded(bed);
  const lock = bed.others.mutex('stock');
  await (await lock.acquire()).release();
  const lease = await lock.acquire();
  await soon(() => page.rows.has('stock')).toBe(true);
  const [holder] = (await bed.locks.inspect('stock')).holders;
  const wanted = { name: 'stock', token: `${holder?.number}`, typed: 'stock', reason: 'it hangs' };
  const headers = {
    ...BEARER,
    origin: new URL(bed.url).origin,
    'content-type': 'application/json',
  };
  const body = JSON.stringify({ ...wanted, now: true });
  expect((await ask(`${bed.url}evict`, { method: 'POST', headers, body })).status).toBe(200);
  await soon(() => lease.signal.aborted).toBe(true);
  await reporter.close();
  await soon(() => page.told).toContain('stock lost');
  await soon(() => page.rows.size).toBe(0);
  const exact = page.lines.filter(({ what }) => what !== 'evicted');
  expect(exact.map(({ what, detail, from }) => [what, detail, from])).toEqual([
    ...[
      ['granted', null, 'locks'],
      ['released', null, 'locks'],
      ['granted', null, 'locks'],
      ['lost', 'evicted: it hangs', 'locks'],
    ],
  ]);
  expect(exact.every(({ who }) => who?.startsWith('till · '))).toBe(true);
  expect(page.last?.rates).toMatchObject({ grants: 2, losses: 1 });
  expect(reporter.dropped).toBe(0);
});

describe('a reporter', () => {
  it('needs the token of reports, which opens nothing else', async () => {
    const bed = await start({ reports: REPORTS, readOnly: false });
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    const headers = { ...form, origin: new URL(bed.url).origin };
    const login = await ask(bed.url, { method: 'POST', headers, body: `token=${TOKEN}` });
    const [cookie = ''] = login.headers['set-cookie'] ?? [];
    const json = { 'content-type': 'application/json' };
    for (const others of [BEARER, { cookie }, { authorization: 'Bearer another' }, {}]) {
      expect((await send(bed, BATCH, { ...json, ...others })).status).toBe(401);
    }
    expect((await send(bed, BATCH, { ...HEADERS, 'content-type': 'text/plain' })).status).toBe(415);
    for (const path of ['', 'events', 'record?name=once:a']) {
      expect((await ask(bed.url + path, { headers: HEADERS })).status).toBe(401);
    }
    const evict = { method: 'POST', headers: { ...HEADERS, origin: headers.origin }, body: '{}' };
    expect((await ask(`${bed.url}evict`, evict)).status).toBe(401);
    expect((await loaded(bed)).told).toEqual([]);
    expect((await send(bed, BATCH)).status).toBe(204);
  });

  it('is told to come again by a dashboard that is closed', async () => {
    const bed = await start({ reports: REPORTS });
    bed.shown.close();
    expect((await send(bed, BATCH)).status).toBe(503);
  });

  it('is refused where no reports are wanted', async () => {
    const bed = await start();
    expect((await send(bed, BATCH, { ...HEADERS, ...BEARER })).status).toBe(404);
    expect((await send(bed, BATCH)).status).toBe(401);
  });

  it.each([
    ['the token of auth', { auth: TOKEN, reports: TOKEN }],
    ['a short token', { auth: TOKEN, reports: 'short' }],
    ['a token that no header has', { auth: TOKEN, reports: 'sixteen ümlauts or more' }],
  ])('is not let in by %s', (_, options) => {
    const starts = () => dashboard(createLocks(memoryStore()), options);
    expect(starts).toThrow(expect.objectContaining({ code: 'USAGE' }));
  });

  it.each([
    ['no address', { url: 'dashboard', token: REPORTS }],
    ['a file', { url: 'file:///tmp/a', token: REPORTS }],
    ['a password', { url: 'http://ann:secret@127.0.0.1/', token: REPORTS }],
    ['no token', { url: 'http://127.0.0.1/' }],
    ['an unknown option', { url: 'http://127.0.0.1/', token: REPORTS, every: 1 }],
  ])('refuses %s', (_, options) => {
    const starts = () => reportTo(createLocks(memoryStore()), options as never);
    expect(starts).toThrow(expect.objectContaining({ code: 'USAGE' }));
  });
});

describe('of what is reported', () => {
  it.each<[string, unknown]>([
    ['no object', null],
    ['no list', { ...BATCH, reports: {} }],
    ['too many', { ...BATCH, reports: Array.from({ length: 501 }, () => ({})) }],
    ['half a number', { ...BATCH, first: 0.5 }],
    ['a number as text', { ...BATCH, pid: '7' }],
    ['a host that is none', { ...BATCH, host: { toString: 1 } }],
    ['a long label', { ...BATCH, label: 'x'.repeat(2_000) }],
    ['a time that is none', { ...BATCH, now: null }],
    ['something else', { ...BATCH, reports: [REPORT, { ...REPORT, what: 'evicted' }] }],
    ['a token that is none', { ...BATCH, reports: [{ ...REPORT, token: '-1' }] }],
    ['a token as a number', { ...BATCH, reports: [{ ...REPORT, token: 1_024 }] }],
    ['a long name', { ...BATCH, reports: [{ ...REPORT, resource: 'x'.repeat(2_000) }] }],
    ['a detail that is none', { ...BATCH, reports: [{ ...REPORT, detail: ['x'] }] }],
    ['a time before time', { ...BATCH, reports: [{ ...REPORT, at: -1 }] }],
  ])('nothing is taken that has %s', async (_, batch) => {
    const bed = await start({ reports: REPORTS });
    expect((await send(bed, batch)).status).toBe(400);
    expect((await loaded(bed)).told).toEqual([]);
  });

  it('nothing is read that is too long', async () => {
    const bed = await start({ reports: REPORTS });
    const long = { ...BATCH, more: 'x'.repeat(70_000) };
    expect((await send(bed, long)).status).toBe(413);
    expect((await loaded(bed)).told).toEqual([]);
  });

  it('nothing beyond the prefix of the dashboard and of its locks is told or counted', async () => {
    const bed = await start({ reports: REPORTS, prefix: 'account:' });
    const page = await loaded(bed);
    const resources = ['account:1', 'shop:secret', 'shop:', 'shop:account:2'];
    const reports = resources.map((resource) => ({ ...REPORT, resource }));
    expect((await send(bed, { ...BATCH, reports })).status).toBe(204);
    await soon(() => page.told).toEqual(['account:2 granted']);
    expect(page.last?.rates.grants).toBe(1);
    const beyond = { ...BATCH, reports: [{ ...REPORT, resource: 'shop:secret' }] };
    expect((await send(bed, { ...beyond, first: 9 })).status).toBe(204);
    expect((await send(bed, { ...BATCH, first: 12 })).status).toBe(204);
    const mine = { ...BATCH, reports: [{ ...REPORT, resource: 'shop:account:3', at: BATCH.now }] };
    expect((await send(bed, { ...mine, first: 15 })).status).toBe(204);
    await soon(() => page.told).toContain('account:3 granted');
    expect(page.told).toEqual(['account:2 granted', ' dropped', 'account:3 granted']);
    expect(page.lines.find(({ what }) => what === 'dropped')?.detail).toBe('2 reports');
  });

  it('all is text, and is shown as it is', async () => {
    const bed = await start({ reports: REPORTS });
    const page = await loaded(bed);
    const names = Array.from({ length: 200 }, (_, n) => `${n}${HOSTILE[n % HOSTILE.length]}`);
    const reports = names.map((name) => {
      return { ...REPORT, resource: `shop:${name}`, what: 'lost', detail: name };
    });
    const who = { host: HOSTILE[0], label: HOSTILE[1] };
    expect((await send(bed, { ...BATCH, ...who, reports })).status).toBe(204);
    await soon(() => page.lines.map(({ name }) => name)).toEqual(names);
    expect(page.lines.map(({ detail }) => detail)).toEqual(names);
    expect(new Set(page.lines.map((line) => line.who))).toEqual(
      new Set([`${HOSTILE[1]} · ${HOSTILE[0]} · 7`]),
    );
  });
});

const HOSTILE = [
  '<img src=x onerror="globalThis.hacked=1">',
  '</script><script>globalThis.hacked=2</script>',
  '\n\ndata: {"rows":[]}\n\n',
  '\u202e\u0000\u2028',
  '__proto__',
  '"]\n["gone","a"',
];

describe('a receiver', () => {
  const NOW = 1_800_000_000_000;

  interface Taken {
    readonly report: Report;
    readonly at: number;
  }

  function receive(...batches: readonly Partial<ReportBatch>[]) {
    const taken: Taken[] = [];
    const history = new History();
    const report = (report: Report, _: Who, at: number): void => void taken.push({ report, at });
    const receiver = new Receiver({ history, report, shows: () => true });
    for (const batch of batches) receiver.receive({ ...BATCH, ...batch }, NOW);
    return { taken, told: history.since(0).map(({ what, detail }) => `${what} ${detail}`) };
  }

  it('takes no batch twice, also one that it knows in part', () => {
    const { taken, told } = receive({}, {}, { reports: [REPORT, { ...REPORT, token: '2048' }] });
    expect(taken.map(({ report }) => report.token)).toEqual(['1024', '2048']);
    expect(told).toEqual([]);
  });

  it('tells how many reports were dropped', () => {
    const { taken, told } = receive({ first: 5 }, { first: 7 }, { first: 108 });
    expect(taken).toHaveLength(3);
    expect(told).toEqual(['dropped 1 report', 'dropped 100 reports']);
  });

  it('dates what happened by its age, whatever clock the reporter has', () => {
    const [day, at] = [86_400_000, REPORT.at];
    const { taken } = receive(
      { now: at + 300 },
      { reporter: 'ahead', now: at - 50 },
      { reporter: 'late', now: at + 3 * day },
      { reporter: 'lies', now: at + 300 * day },
    );
    const ages = taken.map((each) => NOW - each.at);
    expect(ages).toEqual([300, 0, 3 * day, 7 * day]);
  });

  it('keeps the order of a process, however long its requests take', () => {
    const [now, at] = [REPORT.at + 300, REPORT.at];
    const { taken } = receive(
      { now, reports: [REPORT, { ...REPORT, at: at + 250 }] },
      {
        now,
        first: 2,
        reports: [
          { ...REPORT, at: at + 100 },
          { ...REPORT, at: at + 299 },
        ],
      },
    );
    expect(taken.map((each) => NOW - each.at)).toEqual([300, 50, 50, 1]);
  });
});

describe('an outbox', () => {
  const from = { reporter: 'r', host: 'till', pid: 1, label: null };
  const report: Report = REPORT;
  const batchOf = (outbox: Outbox): ReportBatch => JSON.parse(outbox.take(0) ?? 'null');

  it('keeps the newest, and counts what it drops', () => {
    const outbox = new Outbox(from);
    for (let n = 0; n < 2_300; n += 1) outbox.add({ ...report, token: `${n}` }, n);
    expect(outbox.dropped).toBe(300);
    const { first, reports } = batchOf(outbox);
    expect([first, reports.length <= 500, reports[0]?.token]).toEqual([300, true, '300']);
  });

  it('sends a batch again as it was, however much came after it', () => {
    const outbox = new Outbox(from);
    for (let n = 0; n < 100; n += 1) outbox.add(report, n);
    const before = outbox.take(5);
    for (let n = 0; n < 3_000; n += 1) outbox.add(report, n);
    expect(outbox.take(5)).toBe(before);
    outbox.arrived();
    expect(batchOf(outbox).first).toBe(1_100);
    expect(outbox.dropped).toBe(1_000);
    outbox.clear();
    expect([outbox.dropped, outbox.isEmpty]).toEqual([3_000, true]);
  });

  it('makes no batch that is refused for its size', () => {
    const outbox = new Outbox({ ...from, label: '\u0001'.repeat(256) });
    const long = { ...report, resource: '\u0001'.repeat(640), detail: 'ü'.repeat(9_000) };
    for (let n = 0; n < 100; n += 1) outbox.add(long, n);
    for (let n = 0; !outbox.isEmpty; outbox.arrived()) {
      const text = outbox.take(0) ?? '';
      expect(Buffer.byteLength(text)).toBeLessThan(64 * 1024);
      expect(JSON.parse(text).first).toBe(n);
      n += JSON.parse(text).reports.length;
    }
    expect(outbox.dropped).toBe(0);
  });
});
