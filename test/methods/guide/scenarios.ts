/** What happens around some blocks of the pages, and what is expected of them then. */
import { createElection } from 'holdfast/election';
import { expect } from 'vitest';
import { ObjectServer } from '../../fences/object-server.ts';
import { until } from '../../support/until.ts';
import { COMMENTS } from './comment-scenarios.ts';
import { countStock } from './reader.ts';
import {
  givenJob,
  hold,
  holdShortly,
  ledThrice,
  loseReport,
  nobodyHolds,
  ofPage,
  printed,
  resignInTime,
  runReport,
  type Scenario,
} from './scenario.ts';
import { askShop } from './shop.ts';
import { STORES } from './store-scenarios.ts';
import { SKU, type World } from './world.ts';

const soldOne = ({ db }: World): void => expect(countStock(db, SKU)).toBe(2);

const GUIDE: readonly Scenario[] = [
  ...ofPage('README.md', {
    'sqliteStore(': { after: ({ opened }) => expect(opened).toHaveLength(1) },
    'sqlFence(': { after: soldOne },
    'campaign()': { before: resignInTime, after: ledThrice },
  }),
  ...ofPage('docs/guide/elections-and-standbys.md', {
    'await lead(': { before: resignInTime, after: ledThrice },
    'candidate.state': { prints: 'standby\nundefined' },
    'election.standings()': {
      async before({ others }) {
        const election = createElection(others, 'worker', { seats: 2 });
        const candidate = election.campaign({ label: 'worker-1' });
        await until(() => candidate.state === 'leader');
      },
      prints: 'worker-1',
    },
    'election.observe()': {
      async meanwhile(world) {
        await printed(world, '0 lead');
        createElection(world.others, 'worker', { seats: 2 }).campaign();
        await printed(world, '1 lead');
        await world.locks.close();
      },
    },
  }),
  ...ofPage('docs/guide/fences.md', { 'countStock(': { after: soldOne } }),
  ...ofPage('docs/guide/fences-objects.md', {
    'PutObjectCommand(': {
      after({ objects }) {
        const { value } = JSON.parse(objects.get('plan') ?? '{}') as { readonly value?: unknown };
        expect(value).toEqual({ files: ['one-more.parquet'] });
      },
    },
    'async function ask': {
      before: serveFiles,
      uncalled: ['fetch'],
      async after({ names }) {
        const response = await (names.fetch as typeof fetch)('https://files.example/plans/plan');
        expect(await response.json()).toMatchObject({ value: ['one more'] });
      },
    },
  }),
  ...ofPage('docs/guide/fences-http.md', {
    'fenceHeaders(': {
      after({ requests }) {
        expect(requests).toMatchObject([{ url: `https://stock.example/${SKU}/sell` }]);
        expect([...(requests[0]?.headers.keys() ?? [])].length).toBeGreaterThan(0);
      },
    },
    'createServer(': { after: askShop },
  }),
  ...ofPage('docs/guide/getting-started.md', {
    'sqliteStore(': { after: locksOfTheShop },
    'connect(': { after: locksOfTheShop },
    "locks.mutex('nightly-report')": {
      before: hold('nightly-report'),
      prints: `pid ${process.pid}`,
      uncalled: ['buildReport'],
    },
    'locks.close()': {
      after: ({ locks }) =>
        expect(locks.mutex('a').acquire()).rejects.toMatchObject({ code: 'CLOSED' }),
    },
  }),
  ...ofPage('docs/guide/redis-in-docker.md', {
    // It has one of its own.
    'turn <= 8': { prints: 'turn 8', uncalled: ['setTimeout'] },
  }),
  ...ofPage('docs/guide/observing.md', {
    'const stop = locks.on': {
      async after(world) {
        await loseReport(world);
        expect(world.printed).toEqual([expect.stringMatching(/^report \d+n undefined$/)]);
      },
    },
    'subscribe(': {
      async after(world) {
        await loseReport(world);
        await printed(world, "reason: 'evicted'");
      },
    },
    'new WeakMap': {
      async after(world) {
        await runReport(world);
        expect(world.printed).toEqual([expect.stringMatching(/^report \S+ [\d.]+$/)]);
      },
    },
    'new AsyncLocalStorage': { after: runReport },
    'instrument(': {
      async after(world) {
        expect(world.stops).toHaveLength(1);
        await runReport(world);
      },
    },
    'queue.waiters': { before: hold('nightly-report'), prints: `${process.pid}` },
    'list(locks': { before: hold('account:7'), prints: 'account:7' },
    'evict(locks': {
      before: holdShortly('nightly-report'),
      after: nobodyHolds('nightly-report'),
    },
  }),
  ...ofPage('docs/guide/hand-over.md', { 'locks.resume(': { before: givenJob } }),
  ...ofPage('docs/guide/once.md', {
    'console.log(receipt?.number)': { prints: '1' },
    'message.ack()': { after: ({ acknowledged }) => expect(acknowledged).toEqual(['42']) },
  }),
  ...ofPage('docs/guide/re-entrance.md', {
    DeadlockError: { rejects: 'DEADLOCK', uncalled: ['step'] },
    'inner === outer': { prints: 'true' },
    'setTimeout(': {
      async after({ timers, calls }) {
        expect(calls.get('step')).toBe(2);
        timers[0]?.();
        await until(() => calls.get('step') === 3);
      },
    },
  }),
  ...ofPage('docs/guide/read-write-locks.md', { 'downgrade(lease)': { prints: 'read new' } }),
  ...ofPage('docs/guide/refresh.md', {
    staleWhileRefreshing: {
      before: ({ cached }) => cached.set('token', { text: 'old', endsAt: Date.now() + 200_000 }),
      after: ({ cached }) => until(() => cached.get('token')?.text === 'secret'),
    },
    'fetchToken()': {
      after: ({ cached }) => expect(cached.get('token')?.text).toBe('secret'),
    },
  }),
  ...ofPage('docs/guide/semaphores.md', {
    "'mismatch'": {
      async after(world) {
        await world.others.semaphore('gpu', { limit: 3 }).acquire();
        await world.locks.semaphore('gpu', { limit: 4 }).acquire();
        await printed(world, 'gpu the limit in force is 3, not 4');
      },
    },
  }),
  ...ofPage('docs/guide/ttl-and-heartbeats.md', {
    'lease.takeover': {
      // It dies: nobody tells the store that it is gone.
      before: ({ others }) => others.mutex('import', { ttl: '1s', heartbeat: false }).acquire(),
    },
  }),
  // The server asks nobody for a password.
  ...ofPage('docs/stores/postgres.md', { 'drizzle(': { uncalled: ['readToken'] } }),
  ...ofPage('docs/guide/which-lock.md', {
    'tryRun(': {
      before: hold('nightly-report'),
      prints: 'already being made',
      uncalled: ['buildReport'],
    },
  }),
];

export const SCENARIOS: readonly Scenario[] = [...GUIDE, ...STORES, ...COMMENTS];

async function locksOfTheShop({ opened }: World): Promise<void> {
  expect(await opened[0]?.mutex('a').run(({ resource }) => resource)).toBe('shop:a');
}

/** What the page takes for a service of objects in the network. */
async function serveFiles({ names }: World): Promise<void> {
  const { url } = await ObjectServer.start();
  names.fetch = (place: string, init?: RequestInit): Promise<Response> =>
    fetch(place.replace('https://files.example/', url), init);
}
